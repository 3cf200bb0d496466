// Rays a second of Embree, to compare with `torrance bench traversal`: the same scene, the same four kinds of rays, made and
// timed in the same way. tests/performance.py writes the scene, compiles this file, and runs
//
//     embree SCENE [THREADS]
//
// It prints one JSON object. Only what is a ray is traced and counted, and only tracing is timed. Batches have as many rays as
// those of torrance; each is traced several times, and the least times of all batches are added up. Every kind is traced one by
// one and in packets of 8 and 16, of which the fastest is reported.

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#ifdef __SSE2__
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

constexpr float INFINITE = std::numeric_limits<float>::infinity();
// Rays of a batch for each thread, how often it is traced, and the time after which fewer rounds are enough: all as in torrance.
constexpr size_t RAYS_PER_THREAD = 1 << 15;
constexpr int ROUNDS = 10, FEWEST_ROUNDS = 3;
constexpr double ENOUGH_SECONDS = 0.5;
// Rays that a thread takes at once.
constexpr size_t CHUNK = 512;
// Packets are read whole.
constexpr size_t WIDEST = 16;
enum Kind { CAMERA, SHADOW, BOUNCE_1, BOUNCE_2, KINDS };
constexpr const char* KIND_NAMES[] = {"primary", "shadow", "bounce_1", "bounce_2"};
constexpr int WIDTHS[] = {1, 8, 16};

struct Vec3 {
    float x = 0, y = 0, z = 0;
    Vec3 operator+(Vec3 b) const { return {x + b.x, y + b.y, z + b.z}; }
    Vec3 operator*(float s) const { return {x * s, y * s, z * s}; }
};
float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Vec3 normalized(Vec3 a) { return a * (1 / std::sqrt(dot(a, a))); }

[[noreturn]] void fail(const std::string& reason) {
    std::fprintf(stderr, "error: %s\n", reason.c_str());
    std::exit(1);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_seconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// ---- The scene ----

struct Mesh {
    std::vector<float> vertices;
    std::vector<uint32_t> indices;
};

// What the file holds, in this order, all in words of 32 bits.
struct Description {
    uint32_t width = 0, height = 0;
    // `right` and `up` reach from the centre of the image to its edges at distance 1.
    Vec3 origin, right, up, forward;
    std::vector<Mesh> meshes;
    // Each 3 by 4, by columns, of the first mesh, which is not in the world by itself then.
    std::vector<float> instances;
    // Centres and radii.
    std::vector<float> spheres;
};

template <typename T>
std::vector<T> read_many(std::ifstream& file, size_t count) {
    // Embree reads up to 16 bytes from where the last vertex begins.
    std::vector<T> values(count + 4);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) fail("the scene's file is too short");
    values.resize(count);
    return values;
}

uint32_t read_count(std::ifstream& file) { return read_many<uint32_t>(file, 1)[0]; }

Vec3 read_vector(std::ifstream& file) {
    const auto v = read_many<float>(file, 3);
    return {v[0], v[1], v[2]};
}

Description read_description(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(std::string("cannot read ") + path);
    Description scene;
    scene.width = read_count(file);
    scene.height = read_count(file);
    for (Vec3* v : {&scene.origin, &scene.right, &scene.up, &scene.forward}) *v = read_vector(file);
    scene.meshes.resize(read_count(file));
    for (Mesh& mesh : scene.meshes) {
        const size_t vertices = read_count(file), triangles = read_count(file);
        mesh = {read_many<float>(file, 3 * vertices), read_many<uint32_t>(file, 3 * triangles)};
    }
    scene.instances = read_many<float>(file, 12 * size_t(read_count(file)));
    scene.spheres = read_many<float>(file, 4 * size_t(read_count(file)));
    return scene;
}

RTCScene new_scene(RTCDevice device) {
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_NONE);
    // With spatial splits.
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
    return scene;
}

void attach(RTCScene scene, RTCGeometry geometry) {
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
}

void share(RTCGeometry geometry, RTCBufferType type, RTCFormat format, const void* data, size_t stride, size_t count) {
    rtcSetSharedGeometryBuffer(geometry, type, 0, format, data, 0, stride, count);
}

void attach_mesh(RTCDevice device, RTCScene scene, const Mesh& mesh) {
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_HIGH);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, mesh.vertices.data(), 12, mesh.vertices.size() / 3);
    share(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, mesh.indices.data(), 12, mesh.indices.size() / 3);
    attach(scene, geometry);
}

void attach_instances(RTCDevice device, RTCScene scene, RTCScene group, const std::vector<float>& transforms) {
    for (size_t i = 0; i < transforms.size(); i += 12) {
        RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_INSTANCE);
        rtcSetGeometryInstancedScene(geometry, group);
        rtcSetGeometryTransform(geometry, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, &transforms[i]);
        attach(scene, geometry);
    }
}

RTCScene build(RTCDevice device, const Description& description) {
    RTCScene scene = new_scene(device);
    const bool instanced = !description.instances.empty();
    RTCScene of_meshes = instanced ? new_scene(device) : scene;
    for (const Mesh& mesh : description.meshes) attach_mesh(device, of_meshes, mesh);
    if (instanced) {
        rtcCommitScene(of_meshes);
        attach_instances(device, scene, of_meshes, description.instances);
    }
    if (!description.spheres.empty()) {
        RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
        const auto& spheres = description.spheres;
        share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, spheres.data(), 16, spheres.size() / 4);
        attach(scene, geometry);
    }
    rtcCommitScene(scene);
    return scene;
}

// ---- Threads ----

// Numbers below the least normal one are slow; Embree asks for this in every thread that calls it.
void flush_denormals() {
#ifdef __SSE2__
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
#endif
}

// Threads that wait for work, of which this one takes its part.
class Pool {
public:
    using Work = std::function<void(size_t, size_t)>;

    explicit Pool(size_t threads) : begin(threads), end(threads) {
        for (size_t i = 1; i < threads; i++) {
            others.emplace_back([this] {
                flush_denormals();
                while (begin.arrive_and_wait(), !ended) {
                    take_chunks();
                    end.arrive_and_wait();
                }
            });
        }
    }
    ~Pool() {
        ended = true;
        begin.arrive_and_wait();
        for (auto& thread : others) thread.join();
    }
    size_t threads() const { return others.size() + 1; }

    // Does `work` for ranges that make up 0 to `n`.
    void run(size_t n, const Work& todo) {
        work = &todo;
        count = n;
        next = 0;
        begin.arrive_and_wait();
        take_chunks();
        end.arrive_and_wait();
    }

private:
    void take_chunks() {
        for (size_t first; (first = next.fetch_add(CHUNK)) < count;) (*work)(first, std::min(first + CHUNK, count));
    }

    std::barrier<> begin, end;
    std::atomic<size_t> next = 0;
    const Work* work = nullptr;
    size_t count = 0;
    bool ended = false;
    std::vector<std::thread> others;
};

// ---- Tracing ----

// Rays by columns: origins, directions.
struct Rays {
    size_t count = 0;
    std::vector<float> columns[6];

    explicit Rays(size_t most) {
        for (auto& column : columns) column.resize(most + WIDEST);
    }
    void add(Vec3 o, Vec3 d) {
        const float values[] = {o.x, o.y, o.z, d.x, d.y, d.z};
        for (int i = 0; i < 6; i++) columns[i][count] = values[i];
        count++;
    }
    Vec3 vector(int first, size_t i) const { return {columns[first][i], columns[first + 1][i], columns[first + 2][i]}; }
};

// What torrance keeps of a hit; also whether a shadow ray meets anything.
struct Hits {
    std::vector<float> t, u, v;
    std::vector<uint32_t> primitive, geometry, instance, occluded;
    // Of unit length, in the world: to make the next rays. They are not computed while it counts.
    std::vector<Vec3> normals;

    explicit Hits(size_t most) : normals(most + WIDEST) {
        for (auto* column : {&t, &u, &v}) column->resize(most + WIDEST);
        for (auto* column : {&primitive, &geometry, &instance, &occluded}) column->resize(most + WIDEST);
    }
};

// A call of Embree, of whichever version.
#if RTC_VERSION_MAJOR >= 4
struct Query {
    RTCIntersectArguments closest;
    RTCOccludedArguments any;
    explicit Query(bool coherent) {
        rtcInitIntersectArguments(&closest);
        rtcInitOccludedArguments(&any);
        closest.flags = any.flags = coherent ? RTC_RAY_QUERY_FLAG_COHERENT : RTC_RAY_QUERY_FLAG_INCOHERENT;
    }
    void intersect(RTCScene scene, const int*, RTCRayHit* r) { rtcIntersect1(scene, r, &closest); }
    void intersect(RTCScene scene, const int* valid, RTCRayHit8* r) { rtcIntersect8(valid, scene, r, &closest); }
    void intersect(RTCScene scene, const int* valid, RTCRayHit16* r) { rtcIntersect16(valid, scene, r, &closest); }
    void occluded(RTCScene scene, const int*, RTCRay* r) { rtcOccluded1(scene, r, &any); }
    void occluded(RTCScene scene, const int* valid, RTCRay8* r) { rtcOccluded8(valid, scene, r, &any); }
    void occluded(RTCScene scene, const int* valid, RTCRay16* r) { rtcOccluded16(valid, scene, r, &any); }
};
#else
struct Query {
    RTCIntersectContext context;
    explicit Query(bool coherent) {
        rtcInitIntersectContext(&context);
        context.flags = coherent ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
    }
    void intersect(RTCScene scene, const int*, RTCRayHit* r) { rtcIntersect1(scene, &context, r); }
    void intersect(RTCScene scene, const int* valid, RTCRayHit8* r) { rtcIntersect8(valid, scene, &context, r); }
    void intersect(RTCScene scene, const int* valid, RTCRayHit16* r) { rtcIntersect16(valid, scene, &context, r); }
    void occluded(RTCScene scene, const int*, RTCRay* r) { rtcOccluded1(scene, &context, r); }
    void occluded(RTCScene scene, const int* valid, RTCRay8* r) { rtcOccluded8(valid, scene, &context, r); }
    void occluded(RTCScene scene, const int* valid, RTCRay16* r) { rtcOccluded16(valid, scene, &context, r); }
};
#endif

template <int N>
using RayHit = std::conditional_t<N == 1, RTCRayHit, std::conditional_t<N == 8, RTCRayHit8, RTCRayHit16>>;

// Copies a column, whose fields in Embree are plain numbers in a single ray and arrays in packets.
template <int N, typename T>
void copy(void* to, const T* from) {
    std::memcpy(to, from, N * sizeof(T));
}

template <int N, typename T>
void fill(void* to, T value) {
    T values[N];
    std::fill(values, values + N, value);
    copy<N>(to, values);
}

template <int N, typename R>
void load(R& ray, const Rays& rays, size_t i) {
    void* fields[] = {&ray.org_x, &ray.org_y, &ray.org_z, &ray.dir_x, &ray.dir_y, &ray.dir_z};
    for (int k = 0; k < 6; k++) copy<N>(fields[k], &rays.columns[k][i]);
    for (void* zero : {(void*)&ray.tnear, (void*)&ray.time}) fill<N>(zero, 0.0f);
    for (void* zero : {(void*)&ray.id, (void*)&ray.flags}) fill<N>(zero, 0u);
    fill<N>(&ray.tfar, INFINITE);
    fill<N>(&ray.mask, ~0u);
}

// Traces the rays from `first` to `last` in packets of N.
template <int N, bool ANY>
void trace(RTCScene scene, bool coherent, const Rays& rays, Hits& hits, size_t first, size_t last) {
    Query query(coherent);
    alignas(64) int valid[N];
    alignas(64) RayHit<N> packet;
    for (size_t i = first; i < last; i += N) {
        for (size_t k = 0; k < N; k++) valid[k] = i + k < last ? -1 : 0;
        load<N>(packet.ray, rays, i);
        if constexpr (ANY) {
            query.occluded(scene, valid, &packet.ray);
            float tfar[N];
            std::memcpy(tfar, &packet.ray.tfar, sizeof tfar);
            for (size_t k = 0; k < N; k++) hits.occluded[i + k] = tfar[k] < 0;
        } else {
            fill<N>(&packet.hit.geomID, RTC_INVALID_GEOMETRY_ID);
            fill<N>(&packet.hit.instID, RTC_INVALID_GEOMETRY_ID);
            query.intersect(scene, valid, &packet);
            std::memcpy(&hits.t[i], &packet.ray.tfar, 4 * N);
            std::memcpy(&hits.u[i], &packet.hit.u, 4 * N);
            std::memcpy(&hits.v[i], &packet.hit.v, 4 * N);
            std::memcpy(&hits.primitive[i], &packet.hit.primID, 4 * N);
            std::memcpy(&hits.geometry[i], &packet.hit.geomID, 4 * N);
            std::memcpy(&hits.instance[i], &packet.hit.instID, 4 * N);
        }
    }
}

// The normal of a hit in the world: an instance's is transformed by the inverse transpose, but for a factor the cofactors.
Vec3 world_normal(const RTCHit& hit, const std::vector<float>& transforms) {
    Vec3 n{hit.Ng_x, hit.Ng_y, hit.Ng_z};
    if (hit.instID[0] != RTC_INVALID_GEOMETRY_ID) {
        const float* m = &transforms[12 * size_t(hit.instID[0])];
        const Vec3 x{m[0], m[1], m[2]}, y{m[3], m[4], m[5]}, z{m[6], m[7], m[8]};
        n = cross(y, z) * n.x + cross(z, x) * n.y + cross(x, y) * n.z;
    }
    return normalized(n);
}

// ---- Making rays ----

// Where rays go on: off the surface, on the side from which the last ray came.
struct Start {
    Vec3 p, side;
};

Start start_at(const Rays& rays, const Hits& hits, size_t i) {
    const Vec3 d = rays.vector(3, i), n = hits.normals[i];
    const Vec3 p = rays.vector(0, i) + d * hits.t[i], side = n * (dot(n, d) > 0 ? -1 : 1);
    const float extent = std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    const auto offset = [&](float p, float n) { return n * std::max(std::abs(p) * 0x1p-15f, extent * 0x1p-20f); };
    return {p + Vec3{offset(p.x, side.x), offset(p.y, side.y), offset(p.z, side.z)}, side};
}

class Random {
public:
    float uniform() { return float(engine() >> 8) * 0x1p-24f; }

    // As torrance draws directions to a sky of one colour.
    Vec3 on_sphere() {
        const float z = 1 - 2 * uniform(), angle = 2 * float(M_PI) * uniform(), r = std::sqrt(std::max(1 - z * z, 0.0f));
        return {r * std::cos(angle), r * std::sin(angle), z};
    }

    // With a density of cos θ / π about a normal.
    Vec3 cosine(Vec3 n) {
        const float r = std::sqrt(uniform()), angle = 2 * float(M_PI) * uniform();
        const Vec3 x = normalized(std::abs(n.x) > 0.5f ? cross(n, {0, 1, 0}) : cross(n, {1, 0, 0})), y = cross(n, x);
        return normalized(x * (r * std::cos(angle)) + y * (r * std::sin(angle)) + n * std::sqrt(std::max(1 - r * r, 0.0f)));
    }

private:
    std::mt19937 engine{1};
};

// Camera rays, one somewhere in each pixel, of the pixels numbered `first` to `last` in blocks of 8 by 4.
Rays camera_rays(const Description& scene, Random& random, size_t first, size_t last) {
    Rays rays(last - first);
    const size_t blocks = (scene.width + 7) / 8;
    for (size_t i = first; i < last; i++) {
        const size_t block = i / 32, x = block % blocks * 8 + i % 8, y = block / blocks * 4 + i % 32 / 8;
        if (x >= scene.width || y >= scene.height) continue;
        const float across = 2 * (float(x) + random.uniform()) / float(scene.width) - 1;
        const float down = 2 * (float(y) + random.uniform()) / float(scene.height) - 1;
        rays.add(scene.origin, normalized(scene.forward + scene.right * across + scene.up * -down));
    }
    return rays;
}

// Rays from where others have hit: to the sky, or as a diffuse surface reflects. None leads into the surface.
Rays next_rays(const Rays& from, const Hits& hits, Random& random, bool shadow) {
    Rays rays(from.count);
    for (size_t i = 0; i < from.count; i++) {
        if (hits.geometry[i] == RTC_INVALID_GEOMETRY_ID) continue;
        const Start start = start_at(from, hits, i);
        const Vec3 d = shadow ? random.on_sphere() : random.cosine(start.side);
        if (!shadow || dot(d, start.side) > 0) rays.add(start.p, d);
    }
    return rays;
}

// ---- Measuring ----

struct Timing {
    size_t rays = 0, hits = 0;
    double seconds[3] = {0, 0, 0};
};

class Bench {
public:
    Bench(const Description& description, RTCScene scene, Pool& pool) : description(description), scene(scene), pool(pool) {}

    // Traces all kinds of rays from all camera rays, batch by batch.
    void run() {
        const size_t all = size_t((description.width + 7) / 8) * ((description.height + 3) / 4) * 32;
        const size_t batches = (all + pool.threads() * RAYS_PER_THREAD - 1) / (pool.threads() * RAYS_PER_THREAD);
        for (size_t batch = 0; batch < batches; batch++) run_batch(all * batch / batches, all * (batch + 1) / batches);
    }

    const Timing& timing(Kind kind) const { return timings[kind]; }

private:
    void run_batch(size_t first, size_t last) {
        Hits hits(last - first);
        Rays rays = camera_rays(description, random, first, last);
        measure<false>(CAMERA, rays, hits);
        const Rays shadow = next_rays(rays, hits, random, true);
        rays = next_rays(rays, hits, random, false);
        Hits of_shadow(shadow.count);
        measure<true>(SHADOW, shadow, of_shadow);
        measure<false>(BOUNCE_1, rays, hits);
        rays = next_rays(rays, hits, random, false);
        measure<false>(BOUNCE_2, rays, hits);
    }

    // Times each way to trace the rays, and finds what makes the next ones.
    template <bool ANY>
    void measure(Kind kind, const Rays& rays, Hits& hits) {
        const bool coherent = kind == CAMERA;
        const auto work = [&]<int N>(std::integral_constant<int, N>) {
            return [&](size_t first, size_t last) { trace<N, ANY>(scene, coherent, rays, hits, first, last); };
        };
        Timing& timing = timings[kind];
        timing.seconds[0] += least_seconds(rays.count, work(std::integral_constant<int, 1>()));
        timing.seconds[1] += least_seconds(rays.count, work(std::integral_constant<int, 8>()));
        timing.seconds[2] += least_seconds(rays.count, work(std::integral_constant<int, 16>()));
        pool.run(rays.count, [&](size_t first, size_t last) { find(rays, hits, first, last); });
        timing.rays += rays.count;
        for (size_t i = 0; i < rays.count; i++) timing.hits += hits.geometry[i] != RTC_INVALID_GEOMETRY_ID;
    }

    double least_seconds(size_t count, const Pool::Work& work) {
        pool.run(count, work);
        const double start = now();
        double least = INFINITE;
        for (int round = 0; round < FEWEST_ROUNDS || (round < ROUNDS && now() - start < ENOUGH_SECONDS); round++) {
            const double before = now();
            pool.run(count, work);
            least = std::min(least, now() - before);
        }
        return least;
    }

    // Closest hits with normals.
    void find(const Rays& rays, Hits& hits, size_t first, size_t last) {
        Query query(false);
        for (size_t i = first; i < last; i++) {
            alignas(64) RTCRayHit one;
            load<1>(one.ray, rays, i);
            one.hit.geomID = one.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
            query.intersect(scene, nullptr, &one);
            hits.t[i] = one.ray.tfar;
            hits.geometry[i] = one.hit.geomID;
            if (one.hit.geomID != RTC_INVALID_GEOMETRY_ID) hits.normals[i] = world_normal(one.hit, description.instances);
        }
    }

    const Description& description;
    RTCScene scene;
    Pool& pool;
    Random random;
    Timing timings[KINDS];
};

void print(RTCDevice device, size_t threads, double wall, double cpu, const Bench& bench) {
    std::printf("{\"version\": %d, ", int(rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION)));
    const bool native[] = {
        rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_NATIVE_RAY8_SUPPORTED) != 0,
        rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_NATIVE_RAY16_SUPPORTED) != 0,
    };
    std::printf("\"native_width\": %d, ", native[1] ? 16 : native[0] ? 8 : 4);
    std::printf("\"threads\": %zu, \"build_seconds\": %g, \"build_cpu_seconds\": %g, \"results\": [", threads, wall, cpu);
    for (int kind = 0; kind < KINDS; kind++) {
        const Timing& timing = bench.timing(Kind(kind));
        const double* best = std::min_element(timing.seconds, timing.seconds + 3);
        std::printf("%s{\"kind\": \"%s\", \"rays\": %zu, \"hits\": %zu, \"width\": %d, ", kind ? ", " : "", KIND_NAMES[kind],
                    timing.rays, timing.hits, WIDTHS[best - timing.seconds]);
        std::printf("\"mrays_per_s\": %g}", timing.rays ? 1e-6 * double(timing.rays) / *best : 0.0);
    }
    std::printf("]}\n");
}

int main(int count, char** arguments) {
    if (count < 2) fail("usage: embree SCENE [THREADS]");
    flush_denormals();
    const size_t threads = count > 2 ? std::max(1, std::atoi(arguments[2])) : std::max(1u, std::thread::hardware_concurrency());
    const Description description = read_description(arguments[1]);
    RTCDevice device = rtcNewDevice(("threads=" + std::to_string(threads)).c_str());
    if (!device) fail("Embree does not start");
    const double wall = now(), cpu = cpu_seconds();
    RTCScene scene = build(device, description);
    const double built_wall = now() - wall, built_cpu = cpu_seconds() - cpu;
    if (RTCError error = rtcGetDeviceError(device)) fail("Embree reports error " + std::to_string(int(error)));
    Pool pool(threads);
    Bench bench(description, scene, pool);
    bench.run();
    print(device, threads, built_wall, built_cpu, bench);
}
