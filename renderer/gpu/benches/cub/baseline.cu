// NVIDIA's CUB behind the C interface that `torrance bench primitives --baseline` loads. Built on the machine that is
// measured:
//
//     nvcc -O3 -arch=native -shared -Xcompiler -fPIC -o libcub_baseline.so renderer/gpu/benches/cub/baseline.cu
//
// The program measures each function beside its own primitive of the same name, on the same buffers and the same stream.
// Nothing here allocates or waits. Buffers come in the order that renderer/src/bench/list.rs gives them: inputs, outputs.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cub/cub.cuh>
#include <cuda_runtime.h>

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

/// One call of a CUB algorithm. Without `temp` it only says how many bytes it needs there, as is CUB's way.
struct Call {
    void *temp;
    std::size_t &bytes;
    int n;
    void *const *buffers;
    cudaStream_t stream;

    template <typename T> T *at(int i) const { return buffers ? static_cast<T *>(buffers[i]) : nullptr; }
};

struct IsInLowerHalf {
    __host__ __device__ bool operator()(u32 x) const { return x < (u32{1} << 31); }
};

struct Less {
    __host__ __device__ bool operator()(u32 a, u32 b) const { return a < b; }
};

cudaError_t memcpy_u32(const Call &c) {
    if (!c.temp) {
        c.bytes = 1;
        return cudaSuccess;
    }
    const std::size_t bytes = sizeof(u32) * static_cast<std::size_t>(c.n);
    return cudaMemcpyAsync(c.at<u32>(1), c.at<u32>(0), bytes, cudaMemcpyDeviceToDevice, c.stream);
}

template <typename T> cudaError_t reduce_sum(const Call &c) {
    return cub::DeviceReduce::Sum(c.temp, c.bytes, c.at<T>(0), c.at<T>(1), c.n, c.stream);
}

cudaError_t scan_sum(const Call &c) {
    return cub::DeviceScan::ExclusiveSum(c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), c.n, c.stream);
}

cudaError_t compact_if(const Call &c) {
    return cub::DeviceSelect::If(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), c.at<u32>(2), c.n, IsInLowerHalf{}, c.stream);
}

cudaError_t compact_flagged(const Call &c) {
    return cub::DeviceSelect::Flagged(
        c.temp, c.bytes, c.at<u32>(0), c.at<u8>(1), c.at<u32>(2), c.at<u32>(3), c.n, c.stream);
}

cudaError_t partition_flagged(const Call &c) {
    return cub::DevicePartition::Flagged(
        c.temp, c.bytes, c.at<u32>(0), c.at<u8>(1), c.at<u32>(2), c.at<u32>(3), c.n, c.stream);
}

cudaError_t run_length(const Call &c) {
    return cub::DeviceRunLengthEncode::Encode(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), c.at<u32>(2), c.at<u32>(3), c.n, c.stream);
}

cudaError_t histogram(const Call &c) {
    return cub::DeviceHistogram::HistogramEven(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), 257, u32{0}, u32{256}, c.n, c.stream);
}

cudaError_t sort_keys(const Call &c) {
    return cub::DeviceRadixSort::SortKeys(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), c.n, 0, 32, c.stream);
}

template <int BITS> cudaError_t sort_pairs(const Call &c) {
    return cub::DeviceRadixSort::SortPairs(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(2), c.at<u32>(1), c.at<u32>(3), c.n, 0, BITS, c.stream);
}

cudaError_t merge_sort_pairs(const Call &c) {
    return cub::DeviceMergeSort::SortPairsCopy(
        c.temp, c.bytes, c.at<u32>(0), c.at<u32>(1), c.at<u32>(2), c.at<u32>(3), c.n, Less{}, c.stream);
}

struct Function {
    const char *name;
    cudaError_t (*call)(const Call &);
};

constexpr Function FUNCTIONS[] = {
    {"memcpy", memcpy_u32},
    {"reduce_sum_u32", reduce_sum<u32>},
    {"reduce_sum_f32", reduce_sum<float>},
    {"scan_look_back", scan_sum},
    {"compact_if", compact_if},
    {"compact_flagged", compact_flagged},
    {"partition_flagged", partition_flagged},
    {"run_length", run_length},
    {"histogram", histogram},
    {"radix_sort_keys", sort_keys},
    {"radix_sort_pairs", sort_pairs<32>},
    {"radix_sort_pairs_8bit", sort_pairs<8>},
    {"merge_sort_pairs", merge_sort_pairs},
};

/// The result of a call of an unknown name.
constexpr int UNKNOWN = -1;

int call(const char *name, const Call &call) {
    for (const Function &function : FUNCTIONS) {
        if (std::strcmp(function.name, name) == 0) {
            return static_cast<int>(function.call(call));
        }
    }
    return UNKNOWN;
}

} // namespace

/// The name of this library, for people.
extern "C" const char *baseline_title() {
    static char title[64];
    std::snprintf(
        title, sizeof title, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return title;
}

/// Bytes of temporary memory for so many elements; SIZE_MAX where `name` is unknown or CUB refuses.
extern "C" std::size_t baseline_temp_bytes(const char *name, std::uint64_t n) {
    std::size_t bytes = 0;
    const int code = call(name, Call{nullptr, bytes, static_cast<int>(n), nullptr, nullptr});
    return code == 0 ? bytes : SIZE_MAX;
}

/// Queues the work: 0, or UNKNOWN, or the code of a CUDA error.
extern "C" int baseline_run(
    const char *name, std::uint64_t n, void *const *buffers, void *temp, std::size_t temp_bytes, void *stream) {
    const Call c{temp, temp_bytes, static_cast<int>(n), buffers, static_cast<cudaStream_t>(stream)};
    return call(name, c);
}
