/* Writes steps through ADIOS 2: adios2_write ENGINE PARAMETERS BYTES VARIABLES STEPS FILE
 *
 * Every rank puts BYTES in each of STEPS, as VARIABLES arrays of doubles in three dimensions, v0, v1,
 * ..., which lie side by side along the first; PARAMETERS are those of the engine, a=1;b=2. All steps go
 * to FILE, as deferred puts. Files are opened by the ranks themselves: threads that open them may race. */
#include <adios2_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why)
{
    fprintf(stderr, "error: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void must(adios2_error failed)
{
    if (failed != adios2_error_none)
        fail("ADIOS 2 says no");
}

static void define(adios2_io *io, adios2_variable **made, int variables, size_t elements, int rank,
                   int ranks)
{
    const size_t own[] = {elements, 1, 1}, all[] = {elements * ranks, 1, 1};
    const size_t place[] = {elements * rank, 0, 0};
    char name[32];
    int i;

    for (i = 0; i < variables; i++) {
        snprintf(name, sizeof name, "v%d", i);
        made[i] = adios2_define_variable(io, name, adios2_type_double, 3, all, place, own,
                                         adios2_constant_dims_true);
        if (!made[i])
            fail("no such variable");
    }
}

static void tell(adios2_io *io, char *parameters)
{
    char *one, *value;

    for (one = strtok(parameters, ";"); one; one = strtok(NULL, ";")) {
        if (!(value = strchr(one, '=')))
            fail("PARAMETERS must be a=1;b=2");
        *value = 0;
        must(adios2_set_parameter(io, one, value + 1));
    }
}

int main(int count, char **words)
{
    int rank, ranks, variables, steps, step, i;
    adios2_variable **made;
    adios2_step_status status;
    adios2_engine *engine;
    adios2_adios *adios;
    adios2_io *io;
    size_t elements, j;
    double *values;

    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &i);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 7)
        fail("must be adios2_write ENGINE PARAMETERS BYTES VARIABLES STEPS FILE");
    variables = atoi(words[4]);
    steps = atoi(words[5]);
    if (variables < 1 || steps < 1)
        fail("VARIABLES and STEPS must be 1 at least");
    elements = atol(words[3]) / variables / sizeof *values;
    made = malloc(variables * sizeof *made);
    values = malloc(elements * sizeof *values);
    if (!elements || !made || !values)
        fail("BYTES must be a double of each variable at least");
    for (j = 0; j < elements; j++)
        values[j] = rank + 0.5 * j;
    adios = adios2_init_mpi(MPI_COMM_WORLD);
    io = adios2_declare_io(adios, "restart");
    must(adios2_set_engine(io, words[1]));
    must(adios2_set_parameter(io, "AsyncOpen", "false"));
    tell(io, words[2]);
    define(io, made, variables, elements, rank, ranks);
    if (!(engine = adios2_open(io, words[6], adios2_mode_write)))
        fail("cannot open");
    for (step = 0; step < steps; step++) {
        must(adios2_begin_step(engine, adios2_step_mode_append, -1.0, &status));
        for (i = 0; i < variables; i++)
            must(adios2_put(engine, made[i], values, adios2_mode_deferred));
        must(adios2_end_step(engine));
    }
    must(adios2_close(engine));
    must(adios2_finalize(adios));
    MPI_Finalize();
    free(values);
    free(made);
    return 0;
}
