/* Preloaded into a program of MPI: writes down what it does to files below a folder.

   REAL_FOLDER      what lies below it is recorded; relative names are, too, if REAL_RELATIVE is set
   REAL_LOG         one text file a rank, this name with .RANK behind; a call is a line:
                    "call name offset size result", name without the folder
   REAL_STRIPES     "count size": what a file on Lustre is said to have, unless a program sets it
   REAL_OSTS        stripes of a file that is to have as many as there are
   REAL_PPN         ranks a node: each node has a name of its own
   REAL_STREAMS     files that are opened as a stream are recorded, too
   REAL_SLOW        a rank that takes some milliseconds before each of its reads and writes
   REAL_STDIO       files of stdio are recorded, too: as if each were read or written in one call

   A call that a program's library makes inside another one is not seen twice: the dynamic linker
   brings here only calls from one library to another. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <lustre/lustre_user.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_FILES = 4096, LONGEST = 1024, ALL = 0xffff, SHARED = 1 /* MPI_COMM_TYPE_SHARED of MPICH */ };

static FILE *record;
static const char *folder;
static int slow; /* whether this rank is to be */
static char opened[MOST_FILES][LONGEST]; /* names of open files, by descriptor; "" if not ours */

/* The function of the C library behind one of this file. */
#define BEHIND(answer, name, ...)                                                                  \
    static answer (*behind)(__VA_ARGS__);                                                          \
    if (!behind)                                                                                   \
        behind = dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("REAL_LOG"), *rank = getenv("PMI_RANK");
    char name[LONGEST];
    if (!log || !rank || !getenv("REAL_FOLDER"))
        return; /* a program that starts others */
    snprintf(name, sizeof name, "%s.%s", log, rank);
    record = fopen(name, "ae");
    folder = getenv("REAL_FOLDER");
    slow = getenv("REAL_SLOW") && !strcmp(getenv("REAL_SLOW"), rank);
}

__attribute__((destructor)) static void end(void) {
    if (record)
        fclose(record);
    record = NULL;
}

/* The name of a file as it is recorded, or NULL if it is not. */
static const char *ours(const char *name) {
    size_t length;
    if (!record || !name)
        return NULL;
    if (name[0] != '/')
        return getenv("REAL_RELATIVE") ? name : NULL;
    length = strlen(folder);
    if (strncmp(name, folder, length) || (name[length] && name[length] != '/'))
        return NULL;
    return name[length] ? name + length + 1 : ".";
}

static const char *of(int file) {
    return file >= 0 && file < MOST_FILES && opened[file][0] ? opened[file] : NULL;
}

static void say(const char *call, const char *name, long long offset, long long size,
                long long result) {
    int kept = errno;
    fprintf(record, "%s %s %lld %lld %lld\n", call, name, offset, size, result);
    fflush(record); /* a program may end without its destructors */
    errno = kept;
}

/* ---- open, close ---- */

static int note(int file, const char *name, int flags) {
    const char *mine = ours(name);
    if (mine) {
        say("open", mine, flags, 0, file);
        if (file >= 0 && file < MOST_FILES)
            snprintf(opened[file], LONGEST, "%s", mine);
    }
    return file;
}

#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if ((flags) & O_CREAT) {                                                                       \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

#define OPEN(function)                                                                             \
    int function(const char *name, int flags, ...) {                                               \
        MODE_OF(flags)                                                                             \
        BEHIND(int, #function, const char *, int, ...);                                            \
        return note(behind(name, flags, mode), name, flags);                                       \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(function)                                                                           \
    int function(int at, const char *name, int flags, ...) {                                       \
        MODE_OF(flags)                                                                             \
        BEHIND(int, #function, int, const char *, int, ...);                                       \
        /* What a name begins at, if not here, is not known. */                                    \
        return note(behind(at, name, flags, mode), at == AT_FDCWD ? name : NULL, flags);           \
    }
OPENAT(openat)
OPENAT(openat64)

int creat(const char *name, mode_t mode) {
    BEHIND(int, "creat", const char *, mode_t);
    return note(behind(name, mode), name, O_CREAT | O_WRONLY | O_TRUNC);
}

int close(int file) {
    BEHIND(int, "close", int);
    int result = behind(file);
    if (of(file)) {
        say("close", of(file), 0, 0, result);
        opened[file][0] = 0;
    }
    return result;
}

/* A library may write to a file that it has as a stream by its descriptor, as C++'s streams do. Calls of
   stdio itself go past us: what a stream has moved is where it stands when it is closed. */
static char wrote[MOST_FILES];

static FILE *note_stream(FILE *stream, const char *name, const char *how) {
    if (stream && stream != record && getenv("REAL_STREAMS")) {
        note(fileno(stream), name, 0);
    } else if (stream && record && getenv("REAL_STDIO")) {
        note(fileno(stream), name, *how == 'r' ? O_RDONLY : O_CREAT | O_WRONLY);
        wrote[fileno(stream)] = *how != 'r';
    }
    return stream;
}

#define FOPEN(function)                                                                            \
    FILE *function(const char *name, const char *how) {                                            \
        BEHIND(FILE *, #function, const char *, const char *);                                     \
        return note_stream(behind(name, how), name, how);                                          \
    }
FOPEN(fopen)
FOPEN(fopen64)

int fclose(FILE *stream) {
    BEHIND(int, "fclose", FILE *);
    int streams = getenv("REAL_STREAMS") != 0, stdio = getenv("REAL_STDIO") != 0;
    int file = stream && stream != record && (streams || stdio) ? fileno(stream) : -1;
    if (of(file)) {
        if (stdio) {
            long moved = ftell(stream);
            say(wrote[file] ? "write" : "read", of(file), 0, moved, moved);
        }
        say("close", of(file), 0, 0, 0);
        opened[file][0] = 0;
    }
    return behind(stream);
}

/* ---- data ---- */

static void linger(void) {
    if (slow)
        usleep(5000);
}

#define AT_OFFSET(function, call, constant)                                                        \
    ssize_t function(int file, constant void *data, size_t size, off64_t offset) {                 \
        BEHIND(ssize_t, #function, int, constant void *, size_t, off64_t);                         \
        linger();                                                                                  \
        ssize_t result = behind(file, data, size, offset);                                         \
        if (of(file))                                                                              \
            say(call, of(file), offset, size, result);                                             \
        return result;                                                                             \
    }
AT_OFFSET(pread, "read", )
AT_OFFSET(pread64, "read", )
AT_OFFSET(pwrite, "write", const)
AT_OFFSET(pwrite64, "write", const)

static off64_t position(int file) {
    BEHIND(off64_t, "lseek64", int, off64_t, int);
    return behind(file, 0, SEEK_CUR);
}

#define AT_POSITION(function, constant)                                                            \
    ssize_t function(int file, constant void *data, size_t size) {                                 \
        BEHIND(ssize_t, #function, int, constant void *, size_t);                                  \
        off64_t offset = of(file) ? position(file) : 0;                                            \
        linger();                                                                                  \
        ssize_t result = behind(file, data, size);                                                 \
        if (of(file))                                                                              \
            say(#function, of(file), offset, size, result);                                        \
        return result;                                                                             \
    }
AT_POSITION(read, )
AT_POSITION(write, const)

ssize_t writev(int file, const struct iovec *parts, int count) {
    BEHIND(ssize_t, "writev", int, const struct iovec *, int);
    off64_t offset = of(file) ? position(file) : 0;
    linger();
    ssize_t result = behind(file, parts, count);
    if (of(file))
        say("write", of(file), offset, result, result);
    return result;
}

#define SYNC(function)                                                                             \
    int function(int file) {                                                                       \
        BEHIND(int, #function, int);                                                               \
        int result = behind(file);                                                                 \
        if (of(file))                                                                              \
            say("sync", of(file), 0, 0, result);                                                   \
        return result;                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)

#define CUT(function)                                                                              \
    int function(int file, off64_t size) {                                                         \
        BEHIND(int, #function, int, off64_t);                                                      \
        int result = behind(file, size);                                                           \
        if (of(file))                                                                              \
            say("truncate", of(file), size, 0, result);                                            \
        return result;                                                                             \
    }
CUT(ftruncate)
CUT(ftruncate64)

#define CUT_NAMED(function)                                                                        \
    int function(const char *name, off64_t size) {                                                 \
        BEHIND(int, #function, const char *, off64_t);                                             \
        int result = behind(name, size);                                                           \
        if (ours(name))                                                                            \
            say("truncate", ours(name), size, 0, result);                                          \
        return result;                                                                             \
    }
CUT_NAMED(truncate)
CUT_NAMED(truncate64)

/* ---- names ---- */

#define NAMED(function, call, types, arguments, passed)                                            \
    int function arguments {                                                                       \
        static int(*behind) types;                                                                 \
        if (!behind)                                                                               \
            behind = dlsym(RTLD_NEXT, #function);                                                  \
        int result = behind passed;                                                                \
        if (ours(name))                                                                            \
            say(call, ours(name), 0, 0, result);                                                   \
        return result;                                                                             \
    }
NAMED(unlink, "unlink", (const char *), (const char *name), (name))
NAMED(rmdir, "rmdir", (const char *), (const char *name), (name))
NAMED(mkdir, "mkdir", (const char *, mode_t), (const char *name, mode_t mode), (name, mode))
NAMED(mknod, "mknod", (const char *, mode_t, dev_t), (const char *name, mode_t mode, dev_t device),
      (name, mode, device))
NAMED(rename, "rename", (const char *, const char *), (const char *name, const char *to), (name, to))
NAMED(access, "stat", (const char *, int), (const char *name, int mode), (name, mode))
NAMED(stat, "stat", (const char *, struct stat *), (const char *name, struct stat *s), (name, s))
NAMED(stat64, "stat", (const char *, struct stat64 *), (const char *name, struct stat64 *s),
      (name, s))
NAMED(lstat, "stat", (const char *, struct stat *), (const char *name, struct stat *s), (name, s))
NAMED(lstat64, "stat", (const char *, struct stat64 *), (const char *name, struct stat64 *s),
      (name, s))

#define OF_OPEN(function, kind)                                                                    \
    int function(int file, struct kind *s) {                                                       \
        BEHIND(int, #function, int, struct kind *);                                                \
        int result = behind(file, s);                                                              \
        if (of(file))                                                                              \
            say("stat", of(file), 0, 0, result);                                                   \
        return result;                                                                             \
    }
OF_OPEN(fstat, stat)
OF_OPEN(fstat64, stat64)

/* Who asks where a file ends, as ROMIO does for its size, looks at it. */
#define SEEK(function, place)                                                                      \
    place function(int file, place offset, int whence) {                                           \
        BEHIND(place, #function, int, place, int);                                                 \
        place result = behind(file, offset, whence);                                               \
        if (whence == SEEK_END && of(file))                                                        \
            say("stat", of(file), 0, 0, result < 0 ? -1 : 0);                                      \
        return result;                                                                             \
    }
SEEK(lseek, off_t)
SEEK(lseek64, off64_t)

DIR *opendir(const char *name) {
    BEHIND(DIR *, "opendir", const char *);
    DIR *result = behind(name);
    if (ours(name))
        say("readdir", ours(name), 0, 0, result ? 0 : -1);
    return result;
}

/* ---- locks ---- */

static void note_lock(int file, int command, const struct flock *lock, int result) {
    if (of(file) && (command == F_SETLK || command == F_SETLKW))
        say(lock->l_type == F_UNLCK ? "unlock" : "lock", of(file), lock->l_start, lock->l_len,
            result);
}

#define FCNTL(function)                                                                            \
    int function(int file, int command, ...) {                                                     \
        va_list rest;                                                                              \
        va_start(rest, command);                                                                   \
        void *argument = va_arg(rest, void *);                                                     \
        va_end(rest);                                                                              \
        BEHIND(int, #function, int, int, ...);                                                     \
        int result = behind(file, command, argument);                                              \
        note_lock(file, command, argument, result);                                                \
        return result;                                                                             \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- Lustre ---- */

/* All ranks must hear of the stripes that one has set: they stand in a file beside the log. */
static FILE *stripes(const char *how) {
    char name[LONGEST];
    static FILE *(*behind)(const char *, const char *);
    if (!behind)
        behind = dlsym(RTLD_NEXT, "fopen");
    snprintf(name, sizeof name, "%s.stripes", getenv("REAL_LOG"));
    return behind(name, how);
}

static int get_stripes(struct lov_user_md *layout) {
    const char *said = getenv("REAL_STRIPES");
    char line[64] = "";
    unsigned count, size;
    FILE *file = stripes("r");
    if (file) {
        if (fgets(line, sizeof line, file))
            said = line;
        fclose(file);
    }
    if (!said || sscanf(said, "%u %u", &count, &size) != 2) {
        errno = ENOTTY; /* not on Lustre */
        return -1;
    }
    layout->lmm_stripe_count = count;
    layout->lmm_stripe_size = size;
    layout->lmm_stripe_offset = 0;
    return 0;
}

static int set_stripes(const struct lov_user_md *wanted) {
    struct lov_user_md now;
    unsigned count = wanted->lmm_stripe_count;
    FILE *file;
    if (get_stripes(&now))
        return -1;
    if (count == ALL)
        count = atoi(getenv("REAL_OSTS"));
    file = stripes("w");
    if (!file)
        return -1;
    fprintf(file, "%u %u", count ? count : now.lmm_stripe_count,
            wanted->lmm_stripe_size ? wanted->lmm_stripe_size : now.lmm_stripe_size);
    fclose(file);
    return 0;
}

int ioctl(int file, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (of(file) && request == LL_IOC_LOV_SETSTRIPE)
        return set_stripes(argument);
    if (of(file) && request == LL_IOC_LOV_GETSTRIPE)
        return get_stripes(argument);
    BEHIND(int, "ioctl", int, unsigned long, ...);
    return behind(file, request, argument);
}

/* ---- MPI: ROMIO counts nodes by their names ---- */

int PMPI_Get_processor_name(char *name, int *length) {
    const char *rank = getenv("PMI_RANK"), *ppn = getenv("REAL_PPN");
    *length = sprintf(name, "nid%05d", rank && ppn ? atoi(rank) / atoi(ppn) : 0);
    return 0;
}

int MPI_Get_processor_name(char *name, int *length) { return PMPI_Get_processor_name(name, length); }

/* Who asks for the ranks that share memory gets those of a node. An error of a type that is another is MPI's. */
int MPI_Comm_split_type(int comm, int type, int key, int info, int *made) {
    static int (*behind)(int, int, int, int, int *), (*split)(int, int, int, int *);
    const char *rank = getenv("PMI_RANK"), *ppn = getenv("REAL_PPN");
    if (!behind) {
        behind = dlsym(RTLD_NEXT, "MPI_Comm_split_type");
        split = dlsym(RTLD_NEXT, "MPI_Comm_split");
    }
    if (rank && ppn && type == SHARED)
        return split(comm, atoi(rank) / atoi(ppn), key, made);
    return behind(comm, type, key, info, made);
}
