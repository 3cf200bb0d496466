#!/usr/bin/env python3
"""Computes what a glTF model looks like in the light of points and directions that has been scattered once, from the
formulas of the specification in double precision, without any other renderer: passes for `torrance merge --passes`.

Needs `pip install numpy pillow mitsuba`, the last to write OpenEXR alone.

Models have one orthographic camera, spheres (a mesh is one if it has normals that are its positions) or a single plane,
and no more than one texture of nearest texels. Sheen dims what is below as `1 - max(color) * (max(E(wo), E(wi)) + 0.002)`,
clear coats as `(1 - F(wo)) (1 - F(wi))`; both are the choices of torrance where the specification has what is not reciprocal.
"""

import argparse
import io
import json
import struct

import mitsuba as mi
import numpy as np
from PIL import Image

LUMENS_PER_WATT = 683
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}


class Model:
    def __init__(self, path):
        file = open(path, "rb").read()
        size = struct.unpack_from("<I", file, 12)[0]
        self.json = json.loads(file[20 : 20 + size])
        self.binary = file[28 + size :]

    def bytes(self, view):
        view = self.json["bufferViews"][view]
        return self.binary[view.get("byteOffset", 0) :][: view["byteLength"]], view.get("byteStride")

    def accessor(self, index):
        accessor = self.json["accessors"][index]
        data, stride = self.bytes(accessor["bufferView"])
        type, width = np.dtype(TYPES[accessor["componentType"]]), WIDTHS[accessor["type"]]
        shape, strides = (accessor["count"], width), (stride or type.itemsize * width, type.itemsize)
        array = np.ndarray(shape, type, data, accessor.get("byteOffset", 0), strides).astype(float)
        if accessor.get("normalized"):
            array = np.maximum(array / np.iinfo(type).max, -1)
        return array

    def texels(self, texture):
        image = self.json["images"][self.json["textures"][texture]["source"]]
        return np.asarray(Image.open(io.BytesIO(self.bytes(image["bufferView"])[0])).convert("RGBA")) / 255


def matrix(node):
    if "matrix" in node:
        return np.reshape(node["matrix"], (4, 4)).T
    m = np.eye(4)
    x, y, z, w = node.get("rotation", [0, 0, 0, 1])
    m[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    m[:3, :3] = m[:3, :3] @ np.diag(node.get("scale", [1, 1, 1]))
    m[:3, 3] = node.get("translation", [0, 0, 0])
    return m


def dot(a, b):
    return np.sum(a * b, -1, keepdims=True)


def unit(a):
    return a / np.sqrt(dot(a, a))


def schlick(cos, f0, f90):
    return f0 + (f90 - f0) * (1 - cos) ** 5


def fresnel(cos, eta):
    """Reflectance of a dielectric, of unpolarised light."""
    t = np.sqrt(1 - (1 - cos**2) / eta**2)
    return 0.5 * (((cos - eta * t) / (cos + eta * t)) ** 2 + ((eta * cos - t) / (eta * cos + t)) ** 2)


def ggx(wo, wi, ax, ay):
    """D G / (4 cos cos) with height-correlated masking, in the frame of the facets."""
    h = unit(wo + wi)
    x, y, z = h[..., :1] / ax, h[..., 1:2] / ay, h[..., 2:]
    d = 1 / (np.pi * ax * ay * (x * x + y * y + z * z) ** 2)
    stretched = lambda w: np.sqrt((ax * w[..., :1]) ** 2 + (ay * w[..., 1:2]) ** 2 + w[..., 2:] ** 2)
    return d * 0.5 / (wi[..., 2:] * stretched(wo) + wo[..., 2:] * stretched(wi))


def charlie(wo, wi, alpha):
    """The sheen of Estevez & Kulla 2017."""

    def curve(x):
        at = lambda rough, smooth: (1 - (1 - alpha) ** 2) * rough + (1 - alpha) ** 2 * smooth
        a, b, c = at(21.5473, 25.3245), at(3.82987, 3.32435), at(0.19823, 0.16801)
        return a / (1 + b * x**c) + at(-1.97760, -1.27393) * x + at(-4.32054, -4.85967)

    def shadow(w):
        cos = w[..., 2:]
        return np.exp(np.where(cos < 0.5, curve(cos), 2 * curve(0.5) - curve(1 - cos)))

    sin = np.sqrt(np.maximum(1 - unit(wo + wi)[..., 2:] ** 2, 0))
    d = (2 + 1 / alpha) * sin ** (1 / alpha) / (2 * np.pi)
    return d / (1 + shadow(wo) + shadow(wi)) / (4 * wo[..., 2:] * wi[..., 2:])


def sheen_albedo(cos, alpha):
    """What sheen reflects, by quadrature; tabulated by the cosine."""
    table = np.linspace(0.02, 1, 99)
    c, p = (np.arange(400) + 0.5) / 400, 2 * np.pi * (np.arange(400) + 0.5) / 400
    c, p = (a.ravel() for a in np.meshgrid(c, p))
    wi = np.column_stack([np.sqrt(1 - c * c) * np.cos(p), np.sqrt(1 - c * c) * np.sin(p), c])
    wo = [np.array([[np.sqrt(1 - x * x), 0, x]]) for x in table]
    return np.interp(cos, table, [np.mean(charlie(o, wi, alpha) * wi[:, 2:]) * 2 * np.pi for o in wo])


def srgb_decoded(x):
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


class Material:
    """Looked up where the texture coordinates are `uv`."""

    def __init__(self, model, index, uv):
        self.model, self.uv = model, uv
        material = model.json["materials"][index]
        self.extensions = material.get("extensions", {})
        self.pbr = material.get("pbrMetallicRoughness", {})
        self.emissive = material.get("emissiveFactor", [0, 0, 0])

    def texture(self, info, channels):
        """Nearest texels, repeated."""
        if info is None:
            return 1.0
        texels = self.model.texels(info["index"])
        place = np.floor(self.uv * texels.shape[1::-1]).astype(int) % texels.shape[1::-1]
        return texels[place[:, 1], place[:, 0]][:, channels]

    def number(self, section, factor, default, texture=None, channel=None):
        return section.get(factor, default) * self.texture(section.get(texture), [channel])

    def emitted(self):
        pbr = self.pbr
        if "KHR_materials_unlit" in self.extensions:
            return np.array(pbr["baseColorFactor"][:3]) * srgb_decoded(self.texture(pbr.get("baseColorTexture"), [0, 1, 2]))
        strength = self.extensions.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1)
        return strength * np.array([self.emissive])

    def scattered(self, wo, wi):
        """f of directions around the z axis."""
        ext = self.extensions
        if "KHR_materials_unlit" in ext:
            return 0.0
        if older := ext.get("KHR_materials_pbrSpecularGlossiness"):
            assert older["diffuseFactor"][:3] == [0, 0, 0], "diffuse colours are weighted by what tables say"
            alpha = (1 - older["glossinessFactor"]) ** 2
            cos = dot(wo, unit(wo + wi))
            return schlick(cos, np.array(older["specularFactor"]), 1) * ggx(wo, wi, alpha, alpha)
        base = np.array(self.pbr["baseColorFactor"][:3])
        packed = "metallicRoughnessTexture"
        metallic = self.number(self.pbr, "metallicFactor", 1, packed, 2)
        alpha = self.number(self.pbr, "roughnessFactor", 1, packed, 1) ** 2
        ior = ext.get("KHR_materials_ior", {}).get("ior", 1.5)
        section = ext.get("KHR_materials_specular", {})
        f90 = self.number(section, "specularFactor", 1, "specularTexture", 3)
        f0 = np.minimum(((ior - 1) / (ior + 1)) ** 2 * np.array(section.get("specularColorFactor", [1, 1, 1])), 1) * f90
        assert np.all(f90 == 0) or np.all(base == 0) or np.all(metallic == 1), "as above"
        section = ext.get("KHR_materials_anisotropy", {})
        angle = section.get("anisotropyRotation", 0)
        along = alpha + (1 - alpha) * section.get("anisotropyStrength", 0) ** 2
        c, s = np.cos(angle), np.sin(angle)
        turned = lambda w: np.column_stack([c * w[:, 0] + s * w[:, 1], c * w[:, 1] - s * w[:, 0], w[:, 2]])
        cos = dot(wo, unit(wo + wi))
        specular = (1 - metallic) * schlick(cos, f0, f90) + metallic * schlick(cos, base, 1)
        passed = self.number(ext.get("KHR_materials_transmission", {}), "transmissionFactor", 0, "transmissionTexture", 0)
        f = specular * ggx(turned(wo), turned(wi), along, alpha) + (1 - metallic) * (1 - passed) * base / np.pi
        if section := ext.get("KHR_materials_sheen"):
            color, alpha = np.array(section["sheenColorFactor"]), section["sheenRoughnessFactor"] ** 2
            left = [1 - color.max() * (sheen_albedo(w[:, 2:], alpha) + 0.002) for w in (wo, wi)]
            f = color * charlie(wo, wi, alpha) + np.minimum(*left) * f
        if section := ext.get("KHR_materials_clearcoat"):
            part = self.number(section, "clearcoatFactor", 0, "clearcoatTexture", 0)
            alpha = section["clearcoatRoughnessFactor"] ** 2
            left = [1 - part * fresnel(w[:, 2:], 1.5) for w in (wo, wi)]
            f = part * fresnel(cos, 1.5) * ggx(wo, wi, alpha, alpha) + left[0] * left[1] * f
        return f


def lights(model):
    """For points: directions to the lights, and their irradiance across these."""
    all = model.json["extensions"]["KHR_lights_punctual"]["lights"]
    for node in model.json["nodes"]:
        use = node.get("extensions", {}).get("KHR_lights_punctual")
        if use:
            yield all[use["light"]], matrix(node)


def arriving(light, m, p):
    color = np.array(light.get("color", [1, 1, 1])) * light["intensity"] / LUMENS_PER_WATT
    axis = -unit(m[:3, 2])
    if light["type"] == "directional":
        return np.broadcast_to(-axis, p.shape), np.broadcast_to(color, p.shape)
    to = m[:3, 3] - p
    wi, color = unit(to), color / dot(to, to)
    if light["type"] == "spot":
        inner, outer = np.cos(light["spot"]["innerConeAngle"]), np.cos(light["spot"]["outerConeAngle"])
        color = color * np.clip((dot(-wi, axis) - outer) / (inner - outer), 0, 1) ** 2
    return wi, color


def hits(rays, forward, corners):
    """The first triangle that each ray meets from its front, with its barycentric coordinates; -1 if there is none."""
    found, weights, nearest = np.full(len(rays), -1), np.zeros((len(rays), 3)), np.full(len(rays), np.inf)
    for k, (a, b, c) in enumerate(corners):
        n = np.cross(b - a, c - a)
        along = n @ forward
        if along >= 0:
            continue
        t = (a - rays) @ n / along
        p = rays + t[:, None] * forward
        w = np.column_stack([np.cross(c - b, p - b) @ n, np.cross(a - c, p - c) @ n, np.cross(b - a, p - a) @ n]) / (n @ n)
        inside = (w >= 0).all(1) & (t < nearest)
        found[inside], weights[inside], nearest[inside] = k, w[inside], t[inside]
    return found, weights


def image(model, width, height, samples, seed):
    random = np.random.default_rng(seed)
    camera = next(n for n in model.json["nodes"] if "camera" in n)
    view, projection = matrix(camera), model.json["cameras"][camera["camera"]]["orthographic"]
    j, i = (np.repeat(a.ravel(), samples) for a in np.mgrid[:height, :width])
    x = (2 * (i + random.random(len(i))) / width - 1) * projection["ymag"] * width / height
    y = (1 - 2 * (j + random.random(len(i))) / height) * projection["ymag"]
    rays = view[:3, 3] + x[:, None] * unit(view[:3, 0]) + y[:, None] * unit(view[:3, 1])
    forward = -unit(view[:3, 2])
    nodes = [n for n in model.json["nodes"] if "mesh" in n]
    total = np.zeros((len(rays), 3))
    for node in nodes:
        m = matrix(node)
        [primitive] = model.json["meshes"][node["mesh"]]["primitives"]
        attributes = {name: model.accessor(a) for name, a in primitive["attributes"].items()}
        triangles = model.accessor(primitive["indices"]).astype(int).reshape(-1, 3)
        if np.linalg.det(m[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        points = attributes["POSITION"] @ m[:3, :3].T + m[:3, 3]
        offset = rays - points.mean(0)
        near = np.linalg.norm(offset - (offset @ forward)[:, None] * forward, axis=1) < np.linalg.norm(points - points.mean(0), axis=1).max() * 1.01
        index = np.flatnonzero(near)
        found, weights = hits(rays[index], forward, points[triangles])
        index, found, weights = index[found >= 0], found[found >= 0], weights[found >= 0]
        at = lambda a: np.einsum("ij,ijk->ik", weights, a[triangles[found]])
        p, ns = at(points), unit(at(attributes["NORMAL"]) @ np.linalg.inv(m[:3, :3]))
        corners = points[triangles[found]]
        ng = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        uv = attributes.get("TEXCOORD_0", np.zeros((len(points), 2)))
        t = tangent(corners, uv[triangles[found]])
        t = unit(t - ns * dot(t, ns))
        frame = lambda w: np.column_stack([dot(w, t), dot(w, np.cross(ns, t)), dot(w, ns)])
        material = Material(model, primitive["material"], at(uv))
        total[index] += material.emitted()
        wo = np.broadcast_to(-forward, p.shape)
        for light, place in lights(model):
            wi, irradiance = arriving(light, place, p)
            lit = (dot(wi, ng) > 0) & (dot(wi, ns) > 0) & (dot(wo, ns) > 0) & ~shadowed(model, nodes, node, p, wi)
            local = np.where(lit, frame(wi), [0, 0, 1.0]), np.where(dot(wo, ns) > 0, frame(wo), [0, 0, 1.0])
            total[index] += np.where(lit, material.scattered(local[1], local[0]) * irradiance * dot(wi, ns), 0)
    return total.reshape(height, width, samples, 3).mean(2)


def tangent(corners, uv):
    """∂p/∂u of triangles; anything across the normal where there is none."""
    a, b = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    det = (a[:, :1] * b[:, 1:] - a[:, 1:] * b[:, :1])
    along = (b[:, 1:] * e - a[:, 1:] * f) * np.sign(det)
    return np.where(det == 0, e, along)


def shadowed(model, nodes, this, p, wi):
    """Whether another sphere is in the way."""
    result = np.zeros((len(p), 1), bool)
    for node in nodes if len(nodes) > 1 else []:
        if node is not this:
            to = matrix(node)[:3, 3] - p
            along = dot(to, wi)
            result |= (along > 0) & (dot(to, to) - along**2 < 1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=".glb")
    parser.add_argument("-o", "--output", required=True, help="images to write, with {} for the number of the pass, .exr")
    parser.add_argument("--size", default="96x72", help="pixels [96x72]")
    parser.add_argument("--spp", type=int, default=16, help="samples per pixel and pass [16]")
    parser.add_argument("--passes", type=int, default=16, help="number of passes [16]")
    args = parser.parse_args()
    mi.set_variant("scalar_rgb")
    model = Model(args.model)
    width, height = map(int, args.size.split("x"))
    for number in range(args.passes):
        pixels = image(model, width, height, args.spp, number)
        mi.Bitmap(pixels.astype(np.float32)).write(args.output.format(f"{number:03}"))


main()
