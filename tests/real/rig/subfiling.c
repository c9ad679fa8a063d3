/* Writes a file of HDF5 1.14 through its subfiling driver, and reads it:
 * subfiling SUBFILES BYTES VARIABLES PIECES HOW FILE
 *
 * As in VPIC-IO every rank has BYTES of each of VARIABLES datasets of one dimension, in a group. They
 * lie in PIECES, round robin among the ranks, and are moved in one call, independent or collective as
 * HOW says. SUBFILES 0 makes one for each I/O concentrator. The environment says which ranks these
 * are, and how long a stripe is. Behind HOW there may be ",read": the file is read then, too, and has
 * no group. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT = 4 };

static int rank, ranks;

static void fail(const char *why)
{
    fprintf(stderr, "error: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static hid_t must(hid_t made, const char *what)
{
    if (made < 0)
        fail(what);
    return made;
}

static hid_t access_list(int subfiles)
{
    hid_t list = must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    H5FD_subfiling_config_t config;

    must(H5Pset_mpi_params(list, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_mpi_params");
    must(H5Pget_fapl_subfiling(list, &config), "H5Pget_fapl_subfiling");
    if (subfiles)
        config.shared_cfg.stripe_count = subfiles;
    must(H5Pset_fapl_subfiling(list, &config), "H5Pset_fapl_subfiling");
    must(H5Pclose(config.ioc_fapl_id), "H5Pclose");
    return list;
}

/* What this rank has of a dataset: pieces as far apart as all ranks' first ones are long. */
static hid_t selected(hsize_t elements, hsize_t pieces)
{
    hsize_t all = elements * ranks, block = elements / pieces;
    hsize_t start = block * rank, stride = block * ranks;
    hid_t space = must(H5Screate_simple(1, &all, NULL), "H5Screate_simple");

    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &pieces, &block),
         "H5Sselect_hyperslab");
    return space;
}

static void move(hid_t group, int variables, hsize_t elements, hsize_t pieces, hid_t how,
                 int *values, int reads)
{
    hid_t space = selected(elements, pieces), memory, made, dataset;
    char name[16];
    int i;

    made = must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    must(H5Pset_fill_time(made, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    memory = must(H5Screate_simple(1, &elements, NULL), "H5Screate_simple");
    for (i = 0; i < variables; i++) {
        snprintf(name, sizeof name, "v%06d", i);
        dataset = reads ? H5Dopen2(group, name, H5P_DEFAULT)
                        : H5Dcreate2(group, name, H5T_NATIVE_INT, space, H5P_DEFAULT, made,
                                     H5P_DEFAULT);
        must(dataset, "dataset");
        if (reads)
            must(H5Dread(dataset, H5T_NATIVE_INT, memory, space, how, values), "H5Dread");
        else
            must(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, how, values), "H5Dwrite");
        H5Dclose(dataset);
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(made);
}

int main(int count, char **words)
{
    int given, variables;
    hsize_t elements, pieces;
    hid_t list, file, group, how;
    int *values, reads;

    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 7)
        fail("must be subfiling SUBFILES BYTES VARIABLES PIECES HOW FILE");
    if (given != MPI_THREAD_MULTIPLE)
        fail("MPI has no threads");
    elements = atoll(words[2]) / ELEMENT;
    variables = atoi(words[3]);
    pieces = atoi(words[4]);
    if (variables < 1 || pieces < 1 || elements % pieces || !(values = calloc(elements, sizeof *values)))
        fail("BYTES must be elements of all PIECES");
    reads = strstr(words[5], ",read") != NULL;
    list = access_list(atoi(words[1]));
    how = must(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    if (!strncmp(words[5], "collective", 10))
        must(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    file = must(H5Fcreate(words[6], H5F_ACC_TRUNC, H5P_DEFAULT, list), "H5Fcreate");
    group = reads ? file : H5Gcreate2(file, "Step000000", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    move(must(group, "H5Gcreate2"), variables, elements, pieces, how, values, 0);
    if (!reads)
        must(H5Gclose(group), "H5Gclose");
    must(H5Fflush(file, H5F_SCOPE_GLOBAL), "H5Fflush");
    must(H5Fclose(file), "H5Fclose");
    if (reads) {
        MPI_Barrier(MPI_COMM_WORLD);
        file = must(H5Fopen(words[6], H5F_ACC_RDONLY, list), "H5Fopen");
        move(file, variables, elements, pieces, how, values, 1);
        must(H5Fclose(file), "H5Fclose");
    }
    H5Pclose(how);
    H5Pclose(list);
    MPI_Finalize();
    free(values);
    return 0;
}
