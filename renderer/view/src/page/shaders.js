// The shaders that develop a picture for the display. They are made for one display: where there is no graphics card,
// all that stands in a shader is run, whatever is chosen.

export const VERTEX = `#version 300 es
uniform vec4 rectangle; // left, bottom, right, top in clip coordinates
out vec2 at;

void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = vec2(corner.x, 1.0 - corner.y);
  gl_Position = vec4(mix(rectangle.xy, rectangle.zw, corner), 0.0, 1.0);
}`;

// `choices` are the values of LOGARITHMIC (or not), KIND, CHANNEL, TONE and TAPS.
export function fragment(choices) {
  const lines = Object.entries(choices).map(([name, value]) => `#define ${name} ${value}\n`);
  return `#version 300 es\n${lines.join('')}${FRAGMENT}`;
}

// Curves and constants are those of develop.rs and tone.rs.
const FRAGMENT = `
#define RADIANCE 0
#define NOISE 1
#define COLOR 0
#define LUMINANCE 4
#define FALSE_COLOR 5
#define REINHARD 1
#define ACES 2
#define AGX 3
#define NEUTRAL 4
precision highp float;
precision highp sampler2D;

const int STOPS = 9;
const vec3 WEIGHTS = vec3(0.2126, 0.7152, 0.0722);

uniform sampler2D image;
uniform float gain;
uniform vec2 pixel; // of the screen, in the image
uniform vec3 map[STOPS];
in vec2 at;
out vec4 shown;

vec3 encoded(vec3 x) {
  return mix(1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, 12.92 * x, lessThanEqual(x, vec3(0.0031308)));
}

vec3 decoded(vec3 x) {
  return mix(pow((x + 0.055) / 1.055, vec3(2.4)), x / 12.92, lessThanEqual(x, vec3(0.04045)));
}

vec3 mapped(float t) {
  float place = clamp(t, 0.0, 1.0) * float(STOPS - 1);
  int i = min(int(place), STOPS - 2);
  return decoded(mix(map[i], map[i + 1], place - float(i)));
}

vec3 reinhard(vec3 x) {
  float l = dot(x, WEIGHTS);
  return x * (1.0 + l / 16.0) / (1.0 + l);
}

vec3 aces(vec3 x) {
  const mat3 INTO = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
  const mat3 BACK = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
  vec3 y = INTO * x;
  return BACK * ((y * (y + 0.0245786) - 0.000090537) / (y * (0.983729 * y + 0.4329510) + 0.238081));
}

// From middle grey at 10 of 16.5 stops, where the slope is 2, to an end of the range.
vec3 agxArc(vec3 x, float width, float power) {
  float scale = 2.0 * width / pow(pow(4.0 * width, power) - 1.0, 1.0 / power);
  vec3 t = 2.0 * x / scale;
  return scale * t / pow(1.0 + pow(t, vec3(power)), vec3(1.0 / power));
}

vec3 agx(vec3 x) {
  const mat3 INSET = mat3(
    0.842479062253094, 0.0423282422610123, 0.0423756549057051,
    0.0784335999999992, 0.878468636469772, 0.0784336,
    0.0792237451477643, 0.0791661274605434, 0.879142973793104);
  const mat3 OUTSET = mat3(
    1.19687900512017, -0.0528968517574562, -0.0529716355144438,
    -0.0980208811401368, 1.15190312990417, -0.0980434501171241,
    -0.0990297440797205, -0.0989611768448433, 1.15107367264116);
  const float GREY = 10.0 / 16.5;
  vec3 stops = clamp((log2(max(INSET * x, 1e-10) / 0.18) + 10.0) / 16.5, 0.0, 1.0);
  vec3 dark = 0.5 - agxArc(max(GREY - stops, 0.0), GREY, 3.0);
  vec3 bright = 0.5 + agxArc(max(stops - GREY, 0.0), 1.0 - GREY, 3.25);
  return pow(max(OUTSET * mix(bright, dark, lessThan(stops, vec3(GREY))), 0.0), vec3(2.2));
}

vec3 neutral(vec3 x) {
  float least = min(x.r, min(x.g, x.b));
  vec3 color = x - (least < 0.08 ? least - 6.25 * least * least : 0.04);
  float peak = max(color.r, max(color.g, color.b));
  if (peak < 0.76) return color;
  float compressed = 1.0 - 0.0576 / (peak - 0.52);
  float white = 1.0 - 1.0 / (0.15 * (peak - compressed) + 1.0);
  return mix(color * compressed / peak, vec3(compressed), white);
}

vec3 toned(vec3 x) {
#if TONE == REINHARD
  return reinhard(x);
#elif TONE == ACES
  return aces(x);
#elif TONE == AGX
  return agx(x);
#elif TONE == NEUTRAL
  return neutral(x);
#else
  return x;
#endif
}

vec3 chosen(vec3 x) {
#if CHANNEL == LUMINANCE
  return vec3(dot(x, WEIGHTS));
#elif CHANNEL >= 1 && CHANNEL <= 3
  return vec3(x[CHANNEL - 1]);
#else
  return x;
#endif
}

// Whole stops about middle grey, from -6 to 6.
vec3 falseColor(vec3 x) {
  float stops = log2(max(dot(x, WEIGHTS) / 0.18, 1e-30));
  return mapped((floor(clamp(stops, -6.0, 5.99)) + 6.0) / 11.0);
}

// From a thousandth to one, by magnitude.
vec3 noise(vec3 x) {
#if CHANNEL == COLOR || CHANNEL == FALSE_COLOR
  float most = max(x.r, max(x.g, x.b));
#else
  float most = chosen(x).r;
#endif
  return mapped(log2(max(most, 1e-30) / 0.001) / log2(1000.0));
}

vec3 developed(vec3 x) {
#if KIND == NOISE
  return noise(x);
#elif KIND != RADIANCE
  return chosen(x);
#elif CHANNEL == FALSE_COLOR
  return falseColor(min(x * gain, vec3(1e9)));
#else
  return toned(chosen(min(x * gain, vec3(1e9))));
#endif
}

vec3 sampled(vec2 place) {
  vec3 x = texture(image, place).rgb;
#if LOGARITHMIC
  return exp2(x * 20.0 - 12.0) * step(0.5 / 255.0, x);
#else
  return x;
#endif
}

// A picture that is shown smaller is averaged as it would look, so that bright edges are smooth.
void main() {
  vec3 sum = vec3(0.0);
  for (int i = 0; i < TAPS * TAPS; i++) {
    vec2 offset = (vec2(i % TAPS, i / TAPS) + 0.5) / float(TAPS) - 0.5;
    sum += clamp(developed(sampled(at + offset * pixel)), 0.0, 1.0);
  }
  shown = vec4(encoded(sum / float(TAPS * TAPS)), 1.0);
}`;
