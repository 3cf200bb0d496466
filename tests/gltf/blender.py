#!/usr/bin/env python3
"""Renders a glTF model with Blender's importer and Cycles: passes for `torrance merge --passes`.

Needs `pip install bpy`. The materials should be Lambertian (`specularFactor` 0), since other models of Cycles are not
those of glTF; lights shine as its importer makes them.
"""

import argparse

import bpy


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=".gltf or .glb")
    parser.add_argument("-o", "--output", required=True, help="images to write, with {} for the number of the pass, .exr")
    parser.add_argument("--size", default="96x72", help="pixels [96x72]")
    parser.add_argument("--spp", type=int, default=256, help="samples per pixel and pass [256]")
    parser.add_argument("--passes", type=int, default=16, help="number of passes [16]")
    return parser.parse_args()


def opened(model):
    """The scene of a model, without anything else."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=model)
    scene = bpy.context.scene
    scene.world = bpy.data.worlds.new("dark")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0
    scene.camera = next(o for o in scene.objects if o.type == "CAMERA")
    return scene


def exact(scene):
    """No guesses, no clamps, no filter but the pixel."""
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device = "CPU"
    cycles.use_adaptive_sampling = cycles.use_denoising = cycles.use_fast_gi = False
    cycles.pixel_filter_type = "BOX"
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0
    cycles.light_sampling_threshold = 0
    cycles.blur_glossy = 0
    cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = cycles.transparent_max_bounces = 64
    for o in scene.objects:
        if hasattr(o, "cycles"):
            o.cycles.shadow_terminator_offset = o.cycles.shadow_terminator_geometry_offset = 0


def main():
    args = arguments()
    scene = opened(args.model)
    exact(scene)
    scene.render.resolution_x, scene.render.resolution_y = map(int, args.size.split("x"))
    scene.render.resolution_percentage = 100
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.color_depth = "OPEN_EXR", "RGB", "32"
    for number in range(args.passes):
        scene.cycles.samples, scene.cycles.seed = args.spp, number + 1
        scene.render.filepath = args.output.format(f"{number:03}")
        bpy.ops.render.render(write_still=True)


main()
