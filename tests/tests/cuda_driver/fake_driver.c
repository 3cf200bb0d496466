/* A CUDA driver without a GPU, for tests: device memory is the host's, and it knows the kernels of the test's
 * module by name. FAKE_FAIL=cuInit=100,cuMemAlloc_v2=2 makes functions fail; FAKE_VERSION and FAKE_DEVICES set
 * what it claims, and FAKE_MEMORY how many bytes it has; FAKE_LOG names a file that gets the count of everything left open
 * at exit, and how many modules were loaded, and at a time; FAKE_MULTIPROCESSORS and FAKE_THREADS make its devices smaller.
 * The test's own process may have it run other kernels, refuse the n-th allocation, have any call fail, and tell what is
 * allocated: the functions called fake_. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK do { int code_ = failure(__func__, device_of(current)); if (code_) return code_; } while (0)
#define CHECK_ON(device) do { int code_ = failure(__func__, device); if (code_) return code_; } while (0)
#define CURRENT do { CHECK; if (!current) return 201; if (current->sticky) return current->sticky; } while (0)
/* Streams, modules and memory belong to a context: its address is their handle, or stands before the memory. */
#define IN(context) do { CURRENT; SAME(context); } while (0)
#define SAME(context) do { if ((void *)(context) != current) return 400; } while (0)

/* A context, and what is open in it. */
struct context {
    int holders, modules, streams, events, allocations, pinned;
    size_t used;
    /* The error after which everything in it fails, and whether a fault kept something in it from being freed. */
    int sticky, leaks;
    struct block *blocks;
};

struct block {
    size_t bytes;
    struct context *context;
    struct block *next, **at;
};

/* Calls of a function, or of any if it has no name, in the context of a device, of which the n-th fails, and all after it if
 * that lasts. */
struct fault {
    const char *function;
    int device, nth, code, lasts, calls;
};

/* A text that is made into code, and where errors are told. */
struct linker {
    char *errors, *code;
    size_t bytes_of_errors, bytes;
};

static int inits, loads, most_modules;
static size_t most_used;
/* Calls of cuMemAlloc, and which of them are refused: one, or that and all after it. */
static int calls, refused, refuses_on;
static void (*launcher)(const char *name, const void *args);
static struct context contexts[16];
static __thread struct context *current;
static struct fault faults[16];
static int fault_count;
/* Of the lists of blocks, and the sums of their sizes. */
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static int device_of(const struct context *context) { return context ? (int)(context - contexts) : -1; }
static int add(int *counter, int n) { return __sync_add_and_fetch(counter, n); }
static struct block *block_of(uint64_t pointer) { return (struct block *)(uintptr_t)(pointer - 256); }

static size_t memory(void) {
    const char *text = getenv("FAKE_MEMORY");
    return text ? strtoull(text, NULL, 10) : (size_t)1 << 30;
}

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

/* Whether nothing works in a context after an error. */
static int is_fatal(int code) { return code == 214 || (code >= 700 && code < 720 && code != 701); }

/* Whether what a function was to free is left when it fails. */
static int frees(const char *function) {
    return strstr(function, "Free") || strstr(function, "Destroy") || strstr(function, "Unload") || strstr(function, "SetCurrent");
}

static int injected(const char *function, int device) {
    int code = 0;
    for (int i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        if (fault->device != device || (*fault->function && strcmp(fault->function, function))) continue;
        int call = add(&fault->calls, 1);
        if (!fault->nth || (call != fault->nth && (!fault->lasts || call < fault->nth))) continue;
        code = fault->code;
        contexts[device].leaks |= fault->lasts || frees(function);
    }
    if (is_fatal(code)) contexts[device].sticky = code;
    return code;
}

static int failure(const char *function, int device) {
    int code = injected(function, device);
    if (code) return code;
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
    struct context all = {0};
    for (int i = 0; i < 16; i++) {
        all.holders += contexts[i].holders;
        all.modules += contexts[i].modules;
        all.streams += contexts[i].streams;
        all.events += contexts[i].events;
        all.allocations += contexts[i].allocations;
        all.pinned += contexts[i].pinned;
    }
    fprintf(file, "inits=%d contexts=%d modules=%d streams=%d events=%d allocations=%d pinned=%d loads=%d most_modules=%d",
            inits, all.holders, all.modules, all.streams, all.events, all.allocations, all.pinned, loads, most_modules);
    fclose(file);
}

/* What runs the kernels that the fake driver does not know. */
void fake_launch_by(void (*with)(const char *name, const void *args)) { launcher = with; }
/* Refuses the n-th allocation of device memory from here on, and all after it if it `goes_on`; none if n is 0. */
void fake_refuse(int n, int goes_on) { calls = 0; refused = n; refuses_on = goes_on; most_used = contexts[0].used; }
/* Calls of cuMemAlloc since then. */
int fake_calls(void) { return calls; }
/* The most bytes of a device's memory that were allocated at a time since then. */
size_t fake_most_used(void) { return most_used; }
/* Allocations of device memory and of the host's that are not freed. */
int fake_left(void) {
    int left = 0;
    for (int i = 0; i < 16; i++) left += contexts[i].allocations + contexts[i].pinned;
    return left;
}
/* Has calls fail; only counts them if n is 0. Returns the fault's number, or -1 if there are too many. */
int fake_fail(int device, const char *function, int n, int code, int lasts) {
    if (fault_count == 16) return -1;
    faults[fault_count] = (struct fault){function, device, n, code, lasts, 0};
    return fault_count++;
}
/* Calls so far that a fault is about. */
int fake_counted(int fault) { return faults[fault].calls; }
/* Ends all faults, when nothing is open any more. */
void fake_heal(void) {
    fault_count = 0;
    memset(contexts, 0, sizeof contexts);
}
/* The device whose context is current on this thread. */
int fake_device(void) { return device_of(current); }
/* Bytes of an allocation. */
size_t fake_bytes(uint64_t pointer) { return block_of(pointer)->bytes; }

int cuDriverGetVersion(int *version) { CHECK; *version = number("FAKE_VERSION", 13000); return 0; }
int cuInit(unsigned flags) { CHECK; add(&inits, 1); return flags ? 1 : 0; }
int cuDeviceGetCount(int *count) { CHECK; *count = number("FAKE_DEVICES", 2); return 0; }
int cuDeviceGet(int *device, int index) { CHECK; *device = index; return 0; }
int cuDeviceGetName(char *name, int length, int device) { CHECK; snprintf(name, length, "Fake %d", device); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { CHECK; (void)device; *bytes = memory(); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CHECK;
    (void)device;
    switch (attribute) {
    case 13: *value = 1500000; break; /* clock, kHz */
    case 16: *value = number("FAKE_MULTIPROCESSORS", 10); break;
    case 17: *value = 0; break;       /* watchdog */
    case 39: *value = number("FAKE_THREADS", 1024); break; /* per multiprocessor */
    case 75: *value = number("FAKE_CAPABILITY", 75) / 10; break;
    case 76: *value = number("FAKE_CAPABILITY", 75) % 10; break;
    default: *value = 1; break;
    }
    return 0;
}
int cuGetErrorName(int code, const char **name) { *name = code == 912 ? "FAKE_NAME" : NULL; return code == 912 ? 0 : 1; }
int cuGetErrorString(int code, const char **text) { *text = code == 912 ? "fake text" : NULL; return code == 912 ? 0 : 1; }

int cuDevicePrimaryCtxRetain(void **context, int device) {
    CHECK_ON(device);
    *context = &contexts[device];
    add(&contexts[device].holders, 1);
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    struct context *context = &contexts[device];
    if (add(&context->holders, -1) || !(context->sticky || context->leaks)) return 0;
    /* A context ends with all that is in it. */
    for (struct block *block = context->blocks, *next; block; block = next) next = block->next, free(block);
    memset(context, 0, sizeof *context);
    return 0;
}
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { CHECK; (void)device; (void)flags; return 0; }
int cuCtxSetCurrent(void *context) { CHECK_ON(device_of(context)); current = context; return 0; }
int cuCtxSynchronize(void) { CURRENT; return 0; }

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    CURRENT;
    *free_bytes = memory() - current->used;
    *total = memory();
    return 0;
}
static uint64_t allocate(size_t bytes) {
    struct block *block = aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (!block) return 0;
    pthread_mutex_lock(&memory_lock);
    *block = (struct block){bytes, current, current->blocks, &current->blocks};
    if (block->next) block->next->at = &block->next;
    current->blocks = block;
    pthread_mutex_unlock(&memory_lock);
    uint64_t pointer = (uint64_t)(uintptr_t)block + 256;
    memset((void *)(uintptr_t)pointer, 0xAA, bytes);
    return pointer;
}
static void release(struct block *block) {
    pthread_mutex_lock(&memory_lock);
    *block->at = block->next;
    if (block->next) block->next->at = block->at;
    pthread_mutex_unlock(&memory_lock);
    free(block);
}
static void change_use(size_t taken, size_t freed) {
    pthread_mutex_lock(&memory_lock);
    current->used += taken - freed;
    if (current->used > most_used) most_used = current->used;
    pthread_mutex_unlock(&memory_lock);
}
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
    CURRENT;
    int call = add(&calls, 1);
    if (bytes > memory() - current->used || call == refused || (refuses_on && call > refused)) return 2;
    *pointer = allocate(bytes);
    if (!*pointer) return 2;
    change_use(bytes, 0);
    add(&current->allocations, 1);
    return 0;
}
int cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
    CURRENT;
    if (flags != 3) return 1;
    *start = (void *)(uintptr_t)allocate(bytes);
    if (!*start) return 2;
    add(&current->pinned, 1);
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
    add(&current->pinned, -1);
    release(block);
    return 0;
}
int cuMemFree_v2(uint64_t pointer) {
    struct block *block = block_of(pointer);
    IN(block->context);
    change_use(0, block->bytes);
    add(&current->allocations, -1);
    release(block);
    return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream) {
    IN(stream);
    SAME(block_of(to)->context);
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    IN(stream);
    SAME(block_of(to)->context);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    IN(stream);
    SAME(block_of(to)->context);
    SAME(block_of(from)->context);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    IN(stream);
    SAME(block_of(from)->context);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    CURRENT;
    (void)flags; (void)priority;
    add(&current->streams, 1);
    *stream = current;
    return 0;
}
int cuStreamDestroy_v2(void *stream) { IN(stream); add(&current->streams, -1); return 0; }
int cuStreamSynchronize(void *stream) { IN(stream); return 0; }
int cuEventCreate(void **event, unsigned flags) { CURRENT; (void)flags; add(&current->events, 1); *event = current; return 0; }
int cuEventDestroy_v2(void *event) { IN(event); add(&current->events, -1); return 0; }
int cuEventRecord(void *event, void *stream) { IN(event); SAME(stream); return 0; }
int cuEventElapsedTime(float *ms, void *start, void *end) { IN(start); SAME(end); *ms = 0.25f; return 0; }

/* What it makes of PTX is the text itself. */
int cuLinkCreate_v2(unsigned count, const int *names, void **values, void **linker) {
    CURRENT;
    struct linker *new = calloc(1, sizeof *new);
    for (unsigned i = 0; i < count; i++)
        if (names[i] == 5) new->errors = values[i], new->bytes_of_errors = (size_t)(uintptr_t)values[i + 1];
    return *linker = new, 0;
}
int cuLinkAddData_v2(struct linker *linker, int kind, const char *text, size_t bytes, const char *name, unsigned count,
                     const int *names, void **values) {
    CURRENT;
    (void)name, (void)count, (void)names, (void)values;
    if (kind != 1 || text[bytes - 1]) return 1;
    int code = strstr(text, ".version 9999.") ? 222 : strstr(text, "not an instruction") ? 218 : 0;
    if (code && linker->errors) snprintf(linker->errors, linker->bytes_of_errors, "ptxas fake, line 1; fatal\n");
    if (code) return code;
    linker->code = memcpy(malloc(bytes), text, linker->bytes = bytes);
    return 0;
}
int cuLinkComplete(struct linker *linker, void **code, size_t *bytes) {
    CURRENT;
    return *code = linker->code, *bytes = linker->bytes, linker->code ? 0 : 1;
}
int cuLinkDestroy(struct linker *linker) { CHECK; free(linker->code); free(linker); return 0; }

int cuModuleLoadDataEx(void **module, const char *image, unsigned count, const int *names, void **values) {
    CURRENT;
    (void)names, (void)values;
    if (count || !strstr(image, ".version")) return 200;
    add(&loads, 1);
    int now = add(&current->modules, 1);
    if (now > most_modules) most_modules = now;
    *module = current;
    return 0;
}
int cuModuleUnload(void *module) { IN(module); add(&current->modules, -1); return 0; }
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
    int threads = number("FAKE_THREADS", 1024);
    *blocks = threads > block ? threads / block : 1;
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
    if (!strcmp(name, "stop")) current->sticky = 719;
    if (!strcmp(name, "stray")) current->sticky = 700;
    if (!strcmp(name, "fill"))
        for (uint64_t i = 0; i < (uint64_t)gx * bx && i < args.n; i++) args.out[i] = args.value;
    return 0;
}
