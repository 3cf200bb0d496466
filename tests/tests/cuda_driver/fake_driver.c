/* A CUDA driver without a GPU, for tests: device memory is the host's, and it knows the kernels of the test's
 * module by name. FAKE_FAIL=cuInit=100,cuMemAlloc_v2=2 makes functions fail; FAKE_VERSION and FAKE_DEVICES set
 * what it claims, and FAKE_MEMORY how many bytes it has; FAKE_LOG names a file that gets the count of everything left open
 * at exit, and how many modules were loaded, and at a time. The test's own process may have it run other kernels, refuse
 * the n-th allocation, and tell what is allocated: the functions called fake_. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK do { int code_ = failure(__func__); if (code_) return code_; } while (0)
#define CURRENT do { CHECK; if (!current) return 201; if (sticky) return sticky; } while (0)
/* Streams, modules and memory belong to a context: its address is their handle, or stands before the memory. */
#define IN(context) do { CURRENT; if ((context) != current) return 400; } while (0)

static int sticky, inits, contexts, modules, streams, events, allocations, pinned, loads, most_modules;
static size_t used, most_used;
/* Calls of cuMemAlloc, and which of them are refused: one, or that and all after it. */
static int calls, refused, refuses_on;
static void (*launcher)(const char *name, const void *args);
static __thread void *current;
static int device_context[16];

struct block {
    size_t bytes;
    void *context;
};

static struct block *block_of(uint64_t pointer) { return (struct block *)(uintptr_t)(pointer - 256); }

static size_t memory(void) {
    const char *text = getenv("FAKE_MEMORY");
    return text ? strtoull(text, NULL, 10) : (size_t)1 << 30;
}

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static int failure(const char *function) {
    const char *list = getenv("FAKE_FAIL");
    size_t length = strlen(function);
    while (list && *list) {
        if (!strncmp(list, function, length) && list[length] == '=') return atoi(list + length + 1);
        list = strchr(list, ',');
        if (list) list++;
    }
    return 0;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "inits=%d contexts=%d modules=%d streams=%d events=%d allocations=%d pinned=%d loads=%d most_modules=%d",
            inits, contexts, modules, streams, events, allocations, pinned, loads, most_modules);
    fclose(file);
}

/* What runs the kernels that the fake driver does not know. */
void fake_launch_by(void (*with)(const char *name, const void *args)) { launcher = with; }
/* Refuses the n-th allocation of device memory from here on, and all after it if it `goes_on`; none if n is 0. */
void fake_refuse(int n, int goes_on) { calls = 0; refused = n; refuses_on = goes_on; most_used = used; }
/* Calls of cuMemAlloc since then. */
int fake_calls(void) { return calls; }
/* The most bytes of device memory that were allocated at a time since then. */
size_t fake_most_used(void) { return most_used; }
/* Allocations of device memory and of the host's that are not freed. */
int fake_left(void) { return allocations + pinned; }
/* Bytes of an allocation. */
size_t fake_bytes(uint64_t pointer) { return block_of(pointer)->bytes; }

int cuDriverGetVersion(int *version) { CHECK; *version = number("FAKE_VERSION", 13000); return 0; }
int cuInit(unsigned flags) { CHECK; __sync_fetch_and_add(&inits, 1); return flags ? 1 : 0; }
int cuDeviceGetCount(int *count) { CHECK; *count = number("FAKE_DEVICES", 2); return 0; }
int cuDeviceGet(int *device, int index) { CHECK; *device = index; return 0; }
int cuDeviceGetName(char *name, int length, int device) { CHECK; snprintf(name, length, "Fake %d", device); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { CHECK; (void)device; *bytes = memory(); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CHECK;
    (void)device;
    switch (attribute) {
    case 13: *value = 1500000; break; /* clock, kHz */
    case 16: *value = 10; break;      /* multiprocessors */
    case 17: *value = 0; break;       /* watchdog */
    case 39: *value = 1024; break;    /* threads per multiprocessor */
    case 75: *value = number("FAKE_CAPABILITY", 75) / 10; break;
    case 76: *value = number("FAKE_CAPABILITY", 75) % 10; break;
    default: *value = 1; break;
    }
    return 0;
}
int cuGetErrorName(int code, const char **name) { *name = code == 912 ? "FAKE_NAME" : NULL; return code == 912 ? 0 : 1; }
int cuGetErrorString(int code, const char **text) { *text = code == 912 ? "fake text" : NULL; return code == 912 ? 0 : 1; }

int cuDevicePrimaryCtxRetain(void **context, int device) {
    CHECK;
    *context = &device_context[device];
    __sync_fetch_and_add(&contexts, 1);
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; __sync_fetch_and_sub(&contexts, 1); return 0; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { CHECK; (void)device; (void)flags; return 0; }
int cuCtxSetCurrent(void *context) { CHECK; current = context; return 0; }
int cuCtxSynchronize(void) { CURRENT; return 0; }

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) { CURRENT; *free_bytes = memory() - used; *total = memory(); return 0; }
static uint64_t allocate(size_t bytes) {
    struct block *block = aligned_alloc(256, (bytes + 511) / 256 * 256);
    *block = (struct block){bytes, current};
    uint64_t pointer = (uint64_t)(uintptr_t)block + 256;
    memset((void *)(uintptr_t)pointer, 0xAA, bytes);
    return pointer;
}
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
    CURRENT;
    int call = ++calls;
    if (bytes > memory() - used || call == refused || (refuses_on && call > refused)) return 2;
    used += bytes;
    if (used > most_used) most_used = used;
    allocations++;
    *pointer = allocate(bytes);
    return 0;
}
int cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
    CURRENT;
    if (flags != 3) return 1;
    pinned++;
    *start = (void *)(uintptr_t)allocate(bytes);
    return 0;
}
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *start, unsigned flags) {
    CURRENT;
    if (flags) return 1;
    *pointer = (uint64_t)(uintptr_t)start;
    return 0;
}
int cuMemFreeHost(void *start) {
    struct block *block = block_of((uint64_t)(uintptr_t)start);
    IN(block->context);
    pinned--;
    free(block);
    return 0;
}
int cuMemFree_v2(uint64_t pointer) {
    struct block *block = block_of(pointer);
    IN(block->context);
    used -= block->bytes;
    allocations--;
    free(block);
    return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream) {
    IN(stream);
    IN(block_of(to)->context);
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    IN(stream);
    IN(block_of(to)->context);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    IN(stream);
    IN(block_of(to)->context);
    IN(block_of(from)->context);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    IN(stream);
    IN(block_of(from)->context);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    CURRENT;
    (void)flags; (void)priority;
    streams++;
    *stream = current;
    return 0;
}
int cuStreamDestroy_v2(void *stream) { IN(stream); streams--; return 0; }
int cuStreamSynchronize(void *stream) { IN(stream); return 0; }
int cuEventCreate(void **event, unsigned flags) { CURRENT; (void)flags; events++; *event = current; return 0; }
int cuEventDestroy_v2(void *event) { IN(event); events--; return 0; }
int cuEventRecord(void *event, void *stream) { IN(event); IN(stream); return 0; }
int cuEventElapsedTime(float *ms, void *start, void *end) { IN(start); IN(end); *ms = 0.25f; return 0; }

int cuModuleLoadDataEx(void **module, const char *image, unsigned count, const int *names, void **values) {
    CURRENT;
    int code = strstr(image, ".version 9999.") ? 222 : strstr(image, "not an instruction") ? 218 : 0;
    for (unsigned i = 0; code && i < count; i++)
        if (names[i] == 5) snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "ptxas fake, line 1; fatal\n");
    if (code) return code;
    loads++;
    if (++modules > most_modules) most_modules = modules;
    *module = current;
    return 0;
}
int cuModuleUnload(void *module) { IN(module); modules--; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    IN(module);
    static const char *kernels[] = {"fill", "stop", "stray", "two", "free"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(kernels[i], name)) return *function = (void *)kernels[i], 0;
    if (!launcher) return 500;
    *function = strdup(name);
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    CURRENT;
    (void)function;
    *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block, size_t shared) {
    CURRENT;
    (void)function; (void)shared;
    *blocks = 1024 / block;
    return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
    IN(stream);
    if (launcher) return launcher(function, params[0]), 0;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || shared || extra) return 1;
    const char *name = function;
    if (!strcmp(name, "free")) return 0;
    struct { uint32_t n; float value; float *out; } args;
    memcpy(&args, params[0], sizeof args);
    if (!strcmp(name, "stop")) sticky = 719;
    if (!strcmp(name, "stray")) sticky = 700;
    if (!strcmp(name, "fill"))
        for (uint64_t i = 0; i < (uint64_t)gx * bx && i < args.n; i++) args.out[i] = args.value;
    return 0;
}
