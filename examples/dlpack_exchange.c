/*
 * dlpack_exchange.c - arrays to and from other libraries without a copy, by DLPack.
 *
 * The other library is played by this program: a consumer that looks at what kiln hands out, and a producer
 * that hands out memory of its own. The structs are those of <dlpack/dlpack.h>, version 1.0.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
} tensor;

typedef struct managed_tensor {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct managed_tensor *self);
    uint64_t flags;
    tensor view;
} managed_tensor;

enum { DEVICE_CPU = 1, CODE_FLOAT = 2 };

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
    if (!holds)
        exit(1);
}

/* kiln is the producer; the tensor keeps the memory after kiln's own handle has gone. */
static void show_export(void)
{
    const int64_t shape[2] = {2, 3};
    kiln_array *flat = NULL, *x = NULL, *columns = NULL;
    void *exported = NULL;
    must(kiln_array_arange(&flat, 0, 6, 1, KILN_FLOAT32, KILN_DEVICE_HOST));
    must(kiln_array_reshape(&x, flat, 2, shape));
    must(kiln_array_index(&columns, x, ":, 1:"));
    must(kiln_array_to_dlpack(&exported, columns, true, KILN_DLPACK_STREAM_NONE));
    kiln_array_free(columns);
    kiln_array_free(x);
    kiln_array_free(flat);
    managed_tensor *m = exported;
    const float *first = (const float *)((const char *)m->view.data + m->view.byte_offset);
    expect(m->major == 1 && m->view.device_type == DEVICE_CPU, "a tensor of version 1 on the host");
    expect(m->view.dtype.code == CODE_FLOAT && m->view.dtype.bits == 32, "of float32");
    expect(m->view.ndim == 2 && m->view.shape[1] == 2 && m->view.strides[0] == 3,
           "a view of two columns of three");
    expect(first[0] == 1 && first[m->view.strides[0] + 1] == 5, "with the view's elements");
    m->deleter(m);
}

typedef struct producer {
    managed_tensor managed;
    float values[4];
    int64_t shape[1], strides[1];
    int deletions;
} producer;

static void count_deletion(managed_tensor *self)
{
    ((producer *)self->context)->deletions++;
}

/* kiln is the consumer: it works on the producer's memory, and calls the deleter when its last view goes. */
static void show_import(void)
{
    producer p = {.values = {1, 2, 3, 4}, .shape = {4}, .strides = {1}};
    kiln_array *x = NULL, *tail = NULL;
    kiln_kernel *twice = NULL;
    p.managed = (managed_tensor){.major = 1, .context = &p, .deleter = count_deletion};
    p.managed.view = (tensor){
        .data = p.values, .device_type = DEVICE_CPU, .ndim = 1, .shape = p.shape, .strides = p.strides};
    p.managed.view.dtype.code = CODE_FLOAT;
    p.managed.view.dtype.bits = 32;
    p.managed.view.dtype.lanes = 1;
    must(kiln_array_from_dlpack(&x, &p.managed, true));
    must(kiln_array_index(&tail, x, "2:"));
    kiln_array_free(x);
    must(kiln_elementwise_create(&twice, "T x", "T y", "y = 2 * x", "twice", NULL));
    const kiln_arg in = kiln_arg_array(tail);
    must(kiln_kernel_call(twice, &tail, 1, &in, 1, NULL));
    expect(p.values[1] == 2 && p.values[2] == 6 && p.values[3] == 8,
           "a kernel wrote into the producer's memory");
    expect(p.deletions == 0, "which is still in use");
    kiln_array_free(tail);
    expect(p.deletions == 1, "and then given back, once");
    kiln_kernel_free(twice);
}

/* From kiln to kiln, on whatever device is current. */
static void show_round_trip(void)
{
    int64_t stream = 0;
    void *exported = NULL;
    kiln_array *x = NULL, *same = NULL;
    must(kiln_array_arange(&x, 0, 10, 1, KILN_COMPLEX64, KILN_DEVICE_DEFAULT));
    must(kiln_dlpack_stream(&stream, KILN_DEVICE_DEFAULT));
    must(kiln_array_to_dlpack(&exported, x, false, stream));
    must(kiln_array_from_dlpack(&same, exported, false));
    expect(kiln_array_data(same) == kiln_array_data(x), "the same memory");
    expect(kiln_array_dtype(same) == KILN_COMPLEX64 && kiln_array_device(same) == kiln_array_device(x),
           "as the same thing");
    kiln_array_free(x);
    kiln_array_free(same);
}

int main(void)
{
    show_export();
    show_import();
    show_round_trip();
    return 0;
}
