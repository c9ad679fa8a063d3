/* Reads and writes pieces of one file through MPI-IO: pieces FILE [size=BYTES] CALL...

   The file gets its size at first, if one is given: holes that are read have bytes then.
   A call is a word, "write-all", "read-all", "write" or "read", and behind it what the ranks move,
   a word of seven numbers each:

     FIRST,LAST,OFFSET,STEP,LENGTH,COUNT,STRIDE

   Rank r from FIRST to LAST has COUNT pieces of LENGTH bytes; they begin at
   OFFSET + (r - FIRST) * STEP and lie STRIDE bytes apart. All pieces of a rank are sorted, as a view
   of a file must be, and may not lie over each other; they are one call through a file view of its own. The independent ones follow each other, rank
   by rank, so that nobody meets what another one writes at the same time.

   Hints come as IOR takes them, IOR_HINT__MPI__NAME in the environment. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { MOST_PIECES = 4096 };
static const char HINT[] = "IOR_HINT__MPI__";

struct piece {
    long long place;
    int length;
};

static int count;
static long long lowest; /* of all ranks: where a rank without pieces has its view begin */
static struct piece all[MOST_PIECES];
static long long bytes;

static MPI_Info hints(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    for (char **entry = environ; *entry; entry++) {
        char name[MPI_MAX_INFO_KEY];
        const char *value = strchr(*entry, '=');
        if (strncmp(*entry, HINT, sizeof HINT - 1) || !value)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *entry - (sizeof HINT - 1)),
                 *entry + sizeof HINT - 1);
        MPI_Info_set(info, name, value + 1);
    }
    return info;
}

/* Takes what a word gives this rank. */
static void add(const char *word, int rank) {
    int first, last, length, pieces;
    long long offset, step, stride;
    if (sscanf(word, "%d,%d,%lld,%lld,%d,%d,%lld", &first, &last, &offset, &step, &length, &pieces,
               &stride) != 7) {
        fprintf(stderr, "error: %s is not FIRST,LAST,OFFSET,STEP,LENGTH,COUNT,STRIDE\n", word);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (offset < lowest)
        lowest = offset;
    if (rank < first || rank > last)
        return;
    for (int i = 0; i < pieces && count < MOST_PIECES; i++, count++) {
        all[count].place = offset + (rank - first) * step + i * stride;
        all[count].length = length;
        bytes += length;
    }
}

static int in_order(const void *one, const void *other) {
    long long apart = ((const struct piece *)one)->place - ((const struct piece *)other)->place;
    return (apart > 0) - (apart < 0);
}

static void view(MPI_File file) {
    static int lengths[MOST_PIECES];
    static MPI_Aint places[MOST_PIECES]; /* from the first piece on */
    MPI_Datatype type = MPI_BYTE;
    qsort(all, count, sizeof *all, in_order);
    for (int i = 0; i < count; i++) {
        if (i && all[i - 1].place + all[i - 1].length > all[i].place) {
            fprintf(stderr, "error: pieces of a rank lie over each other\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        places[i] = all[i].place - all[0].place;
        lengths[i] = all[i].length;
    }
    if (count > 1) {
        MPI_Type_create_hindexed(count, lengths, places, MPI_BYTE, &type);
        MPI_Type_commit(&type);
    }
    MPI_File_set_view(file, count ? all[0].place : lowest, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (count > 1)
        MPI_Type_free(&type);
}

static void move(MPI_File file, const char *call, int rank, int ranks) {
    char *buffer = calloc(bytes + 1, 1);
    view(file);
    if (!strcmp(call, "write-all"))
        MPI_File_write_at_all(file, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (!strcmp(call, "read-all"))
        MPI_File_read_at_all(file, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else
        for (int turn = 0; turn < ranks; turn++) {
            if (turn == rank && bytes && !strcmp(call, "write"))
                MPI_File_write_at(file, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else if (turn == rank && bytes)
                MPI_File_read_at(file, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    free(buffer);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Info info;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    info = hints();
    if (argc < 2 || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                                  &file) != MPI_SUCCESS) {
        fprintf(stderr, "error: no file can be opened\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int at = 2;
    if (argc > at && !strncmp(argv[at], "size=", 5))
        MPI_File_set_size(file, atoll(argv[at++] + 5));
    while (at < argc) {
        const char *call = argv[at++];
        count = 0;
        bytes = 0;
        lowest = LLONG_MAX;
        while (at < argc && argv[at][0] >= '0' && argv[at][0] <= '9')
            add(argv[at++], rank);
        move(file, call, rank, ranks);
    }
    MPI_File_close(&file);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
