#!/usr/bin/env python3
"""Renders a Mitsuba 3 scene once, with a seed: a pass for `torrance merge --passes` and for suites of `torrance regress`.

Needs `pip install mitsuba`.
"""

import argparse

import mitsuba as mi


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", help="scene file, .xml")
    parser.add_argument("-o", "--output", required=True, help="image to write, .exr")
    parser.add_argument("--spp", type=int, default=64, help="samples per pixel [64]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sampler [0]")
    parser.add_argument("--variant", help="variant of Mitsuba [the first that starts of llvm_ad_rgb and scalar_rgb]")
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME=VALUE", help="a $NAME of the scene")
    return parser.parse_args()


def set_variant(wanted):
    for variant in [wanted] if wanted else ["llvm_ad_rgb", "scalar_rgb"]:
        try:
            mi.set_variant(variant)
            mi.TensorXf([0.0]) + 1.0  # starts the back end, which may be missing
            return
        except Exception as error:  # noqa: BLE001: whatever it is, the next variant may do
            reason = error
    raise SystemExit(f"no variant of Mitsuba starts: {reason}")


def main():
    args = arguments()
    set_variant(args.variant)
    defines = dict(define.split("=", 1) for define in args.defines)
    scene = mi.load_file(args.scene, **defines)
    image = mi.Bitmap(mi.render(scene, spp=args.spp, seed=args.seed))
    image.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, srgb_gamma=False).write(args.output)


main()
