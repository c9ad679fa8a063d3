/* Lets MPI-IO's calls with large counts, which came with MPI 4, be those with an int that do the same.
 *
 * IOR 4.1 takes the large ones where MPI has them; Darshan 3.4 does not know them, and would count
 * nothing. Cray's MPI-IO of the XC40 has the others alone. */
#include <limits.h>
#include <mpi.h>

#define FITS(count)                                                                                \
    do {                                                                                           \
        if ((count) > INT_MAX)                                                                     \
            return MPI_ERR_COUNT;                                                                  \
    } while (0)

#define SHORTENED(call, buffer)                                                                    \
    int call##_c(MPI_File file, buffer data, MPI_Count count, MPI_Datatype type, MPI_Status *status) \
    {                                                                                              \
        FITS(count);                                                                               \
        return call(file, data, (int)count, type, status);                                         \
    }

#define SHORTENED_AT(call, buffer)                                                                 \
    int call##_c(MPI_File file, MPI_Offset offset, buffer data, MPI_Count count,                   \
                 MPI_Datatype type, MPI_Status *status)                                            \
    {                                                                                              \
        FITS(count);                                                                               \
        return call(file, offset, data, (int)count, type, status);                                 \
    }

SHORTENED(MPI_File_read, void *)
SHORTENED(MPI_File_read_all, void *)
SHORTENED(MPI_File_write, const void *)
SHORTENED(MPI_File_write_all, const void *)
SHORTENED_AT(MPI_File_read_at, void *)
SHORTENED_AT(MPI_File_read_at_all, void *)
SHORTENED_AT(MPI_File_write_at, const void *)
SHORTENED_AT(MPI_File_write_at_all, const void *)
