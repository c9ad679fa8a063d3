/* Writes outputs through ADIOS 1: adios_write METHOD PARAMETERS BYTES VARIABLES STEPS FILE
 *
 * Every rank writes BYTES in each of STEPS, as VARIABLES arrays of doubles in three dimensions,
 * which lie side by side along the first; step s is the output FILE.s.bp. */
#include <adios.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *why)
{
    fprintf(stderr, "error: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void must(int failed)
{
    if (failed)
        fail(adios_get_last_errmsg());
}

/* Makes v0, v1, ... of the group `restart`. */
static void define(int64_t group, int variables, long elements, int rank, int ranks)
{
    char name[32], own[64], all[64], place[64];
    int i;

    snprintf(own, sizeof own, "%ld,1,1", elements);
    snprintf(all, sizeof all, "%ld,1,1", elements * ranks);
    snprintf(place, sizeof place, "%ld,0,0", elements * rank);
    for (i = 0; i < variables; i++) {
        snprintf(name, sizeof name, "v%d", i);
        if (!adios_define_var(group, name, "", adios_double, own, all, place))
            fail(adios_get_last_errmsg());
    }
}

static void output(const char *file, int step, int variables, long elements, const double *values)
{
    char name[4096];
    uint64_t total;
    int64_t opened;
    int i;

    snprintf(name, sizeof name, "%s.%d.bp", file, step);
    must(adios_open(&opened, "restart", name, "w", MPI_COMM_WORLD));
    must(adios_group_size(opened, (uint64_t)variables * elements * sizeof *values, &total));
    for (i = 0; i < variables; i++) {
        snprintf(name, sizeof name, "v%d", i);
        must(adios_write(opened, name, values));
    }
    must(adios_close(opened));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **words)
{
    int rank, ranks, variables, steps, step;
    long elements, i;
    int64_t group;
    double *values;

    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 7)
        fail("must be adios_write METHOD PARAMETERS BYTES VARIABLES STEPS FILE");
    variables = atoi(words[4]);
    steps = atoi(words[5]);
    if (variables < 1 || steps < 1)
        fail("VARIABLES and STEPS must be 1 at least");
    elements = atol(words[3]) / variables / (long)sizeof *values;
    if (elements < 1 || !(values = malloc(elements * sizeof *values)))
        fail("BYTES must be a double of each variable at least");
    for (i = 0; i < elements; i++)
        values[i] = rank + 0.5 * i;
    must(adios_init_noxml(MPI_COMM_WORLD));
    adios_set_max_buffer_size(256); /* MiB */
    must(adios_declare_group(&group, "restart", "", adios_stat_default));
    must(adios_select_method(group, words[1], words[2], ""));
    define(group, variables, elements, rank, ranks);
    for (step = 0; step < steps; step++)
        output(words[6], step, variables, elements, values);
    must(adios_finalize(rank));
    MPI_Finalize();
    free(values);
    return 0;
}
