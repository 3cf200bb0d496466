//! Arguments of the command line, and settings made by them.

use super::Row;
use super::Wrong::Arguments;

/// Samples that would take days, so that a fault found only after rendering does not pass for one found before.
pub(crate) const DAYS: &str = "--spp=1000000000";

pub(crate) const COMMAND_LINE: &[Row<'_>] = &[
    (
        "no such scene",
        Arguments(&["scnee.toml", "-o", "out.png"]),
        r#"scnee.toml: cannot read the scene: no such file; did you mean "scene.toml"?"#,
    ),
    (
        "axis that is none",
        Arguments(&["tile.obj", "-o", "out.png", "--up", "w", DAYS]),
        "invalid value 'w' for '--up <AXIS>': an axis is x, y, z, -x, -y or -z",
    ),
    (
        "axis of a scene that has one",
        Arguments(&["scene.toml", "-o", "out.png", "--up", "z", DAYS]),
        "scene.toml: the scene says which way is up: only OBJ and PLY files leave that open",
    ),
    (
        "radius of points of nothing",
        Arguments(&["cloud.ply", "-o", "out.png", "--point-radius", "0", DAYS]),
        "invalid value '0' for '--point-radius <METRES>': a radius is a number from 1e-9 to 1e9",
    ),
    (
        "radius of points of a mesh",
        Arguments(&["tile.obj", "-o", "out.png", "--point-radius", "0.1", DAYS]),
        "tile.obj: there are no points to have a radius: only glTF and PLY files have any",
    ),
    (
        "no such folder",
        Arguments(&["nowhere/scene.toml", "-o", "out.png"]),
        r#"nowhere/scene.toml: cannot read the scene: there is no folder "nowhere""#,
    ),
    (
        "folder for a scene",
        Arguments(&["folder", "-o", "out.png"]),
        "folder: cannot read the scene: it is a directory",
    ),
    (
        "other scene format",
        Arguments(&["scene.pbrt", "-o", "out.png"]),
        "scene.pbrt: scenes are .toml, .xml, .gltf, .glb, .obj or .ply files; .pbrt files are not read",
    ),
    (
        "layers without a file for them",
        Arguments(&["scene.toml", "-o", "out.png", "--aov", "N", DAYS]),
        "--aov: only EXR files hold layers, and none is written; add -o image.exr",
    ),
    (
        "misspelt layer",
        Arguments(&["scene.toml", "-o", "out.exr", "--aov", "N,albdo", DAYS]),
        r#"invalid value 'N,albdo' for '--aov <LAYERS>': unknown layer "albdo"; did you mean "albedo"?"#,
    ),
    (
        "ids that would be rounded",
        Arguments(&[
            "scene.toml",
            "-o",
            "out.exr",
            "--aov",
            "cryptomatte",
            "--exr-compression",
            "pxr24",
            DAYS,
        ]),
        "--exr-compression pxr24 rounds floats, and so the ids of a Cryptomatte; write another, such as zip",
    ),
    (
        "layer by another's name",
        Arguments(&["scene.toml", "-o", "out.exr", "--aov", "depth", DAYS]),
        r#"invalid value 'depth' for '--aov <LAYERS>': "depth" is called "Z" here"#,
    ),
    (
        "no such output folder",
        Arguments(&["scene.toml", "-o", "nowhere/out.png", DAYS]),
        r#"output "nowhere/out.png": directory "nowhere" does not exist; create it first"#,
    ),
    (
        "file for an output folder",
        Arguments(&["scene.toml", "-o", "tile.obj/out.png", DAYS]),
        r#"output "tile.obj/out.png": "tile.obj" is not a directory"#,
    ),
    (
        "folder for an output",
        Arguments(&["scene.toml", "-o", "folder.png", DAYS]),
        r#"output "folder.png": is a directory"#,
    ),
    (
        "misspelt extension",
        Arguments(&["scene.toml", "-o", "out.pgn", DAYS]),
        r#"output "out.pgn": unknown file extension .pgn; did you mean .png? (it may be .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl)"#,
    ),
    (
        "unknown extension",
        Arguments(&["scene.toml", "-o", "out.docx", DAYS]),
        r#"output "out.docx": unknown file extension .docx; use .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl"#,
    ),
    (
        "no extension",
        Arguments(&["scene.toml", "-o", "out", DAYS]),
        r#"output "out": the file name needs an extension: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl"#,
    ),
    (
        "same output twice",
        Arguments(&["scene.toml", "-o", "out.png", "-o", "./out.png", DAYS]),
        r#"output "./out.png": given twice"#,
    ),
    (
        "empty size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "0x0"]),
        "invalid value '0x0' for '--size <WxH>': an image of 0×0 pixels is empty; both sides must be at least 1",
    ),
    (
        "absurd size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "1000000x1000000"]),
        "invalid value '1000000x1000000' for '--size <WxH>': an image of 1000000×1000000 pixels would need 181.9 TiB of memory (200 bytes a pixel); the limit is 64 GiB",
    ),
    (
        "size beyond a format",
        Arguments(&["scene.toml", "-o", "out.webp", "--size", "16385x1", DAYS]),
        r#"output "out.webp": the image has 16385×1 pixels, and .webp files at most 16384×16384; use .png or .jxl"#,
    ),
    (
        "no size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "big"]),
        "invalid value 'big' for '--size <WxH>': expected WIDTHxHEIGHT in pixels, as in 1280x720",
    ),
    (
        "no samples",
        Arguments(&["scene.toml", "-o", "out.png", "--spp", "0"]),
        "invalid value '0' for '--spp <N>': expected a whole number from 1 to 1073741824",
    ),
    (
        "negative samples",
        Arguments(&["scene.toml", "-o", "out.png", "--spp", "-4"]),
        "invalid value '-4' for '--spp <N>': expected a whole number from 1 to 1073741824",
    ),
    (
        "negative seed",
        Arguments(&["scene.toml", "-o", "out.png", "--seed", "-1"]),
        "invalid value '-1' for '--seed <N>': expected a whole number from 0 to 4294967295",
    ),
    (
        "negative roulette",
        Arguments(&["scene.toml", "-o", "out.png", "--rr-depth", "-1"]),
        "invalid value '-1' for '--rr-depth <N>': expected a whole number from 0 to 1000, or off",
    ),
    (
        "negative time",
        Arguments(&["scene.toml", "-o", "out.png", "--time", "-2"]),
        "invalid value '-2' for '--time <TIME>': a time must be longer than 0",
    ),
    (
        "a time before an animation",
        Arguments(&["scene.toml", "-o", "out.png", "--at", "-0.5"]),
        "invalid value '-0.5' for '--at <SECONDS>': expected seconds from 0 to 1e9, as in 1.5",
    ),
    (
        "an animation of another format",
        Arguments(&["scene.toml", "-o", "out.png", "--animation", "walk", "--at", "1"]),
        "scene.toml: there is no animation \"walk\" to choose: only glTF files have several",
    ),
    (
        "a time of another format",
        Arguments(&["scene.toml", "-o", "out.png", "--at", "1.5"]),
        "scene.toml: there is no animation at 1.5 s to choose: only glTF files have several",
    ),
    (
        "a variant of another format",
        Arguments(&["scene.toml", "-o", "out.png", "--variant", "1"]),
        "scene.toml: there is no variant \"1\" to choose: only glTF files have several",
    ),
    (
        "a scene of another format",
        Arguments(&["scene.toml", "-o", "out.png", "--scene", "night"]),
        "scene.toml: there is no scene \"night\" to choose: only glTF files have several",
    ),
    (
        "backfaces of what has none",
        Arguments(&["scene.toml", "-o", "out.png", "--backfaces", "cull"]),
        "scene.toml: there are no backfaces to cull: only glTF files say which of them are not to be seen",
    ),
    (
        "a parameter without a value",
        Arguments(&["scene.toml", "-o", "out.png", "--set", "camera.fov"]),
        "invalid value 'camera.fov' for '--set <PATH=VALUE>': expected PATH=VALUE, as in materials.ball.roughness=0.3",
    ),
    (
        "a value without a parameter",
        Arguments(&["scene.toml", "-o", "out.png", "--set", "=0.3"]),
        "invalid value '=0.3' for '--set <PATH=VALUE>': expected PATH=VALUE, as in materials.ball.roughness=0.3",
    ),
    (
        "parameters that are wrong together",
        Arguments(&[
            "scene.toml",
            "-o",
            "out.png",
            "--set",
            "materials.gold.eta=0",
            "--set",
            "materials.gold.k=0",
        ]),
        r#"--set materials.gold.eta=0 --set materials.gold.k=0: "eta" and "k" are both 0 in the same channel; no material is like that"#,
    ),
    ("no output", Arguments(&["scene.toml"]), "the following required arguments were not provided:"),
    (
        "unknown option",
        Arguments(&["scene.toml", "-o", "out.png", "--ssp", "4"]),
        "unexpected argument '--ssp' found",
    ),
    (
        "unknown device",
        Arguments(&["scene.toml", "-o", "out.png", "--device", "tpu"]),
        "invalid value 'tpu' for '--device <DEVICE>': expected auto, cpu, cuda, cuda:N, or several devices, as in cuda:all, cuda:0,2 or cuda:all+cpu (`torrance info` lists the devices)",
    ),
    (
        "a list of devices with a gap",
        Arguments(&["scene.toml", "-o", "out.png", "--device", "cuda:0,,2"]),
        "invalid value 'cuda:0,,2' for '--device <DEVICE>': expected auto, cpu, cuda, cuda:N, or several devices, as in cuda:all, cuda:0,2 or cuda:all+cpu (`torrance info` lists the devices)",
    ),
    (
        "samples that end before they begin",
        Arguments(&["scene.toml", "-o", "out.exr", "--samples", "9..4"]),
        "invalid value '9..4' for '--samples <A..B>': expected A..B with A < B, at most 1073741824, as in 64..128",
    ),
    (
        "more samples than there are",
        Arguments(&["scene.toml", "-o", "out.exr", "--spp", "8", "--samples", "4..9"]),
        "--samples 4..9: the whole render has 8 samples per pixel, as --spp says",
    ),
    (
        "part 0",
        Arguments(&["scene.toml", "-o", "out.exr", "--shard", "0/7"]),
        "invalid value '0/7' for '--shard <I/N>': expected I/N with I from 1 to N, as in 2/7, env/N or env",
    ),
    (
        "more parts than samples",
        Arguments(&["scene.toml", "-o", "out.exr", "--spp", "4", "--shard", "1/5"]),
        "--shard: 4 samples per pixel make 4 parts at most, not 5",
    ),
    (
        "a part of no array",
        Arguments(&["scene.toml", "-o", "out.exr", "--shard", "env"]),
        "--shard: the environment tells no index: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK, AWS_BATCH_JOB_ARRAY_INDEX is set",
    ),
    (
        "a part that cannot be merged",
        Arguments(&["scene.toml", "-o", "out.png", "--shard", "1/4", "--spp", "8"]),
        "parts of a render are merged from EXR files: add -o part.exr",
    ),
    (
        "checkpoints at no time",
        Arguments(&["scene.toml", "-o", "out.png", "--checkpoint", "often"]),
        "invalid value 'often' for '--checkpoint <TIME|off>': expected a time, as in 30s, 2m, 1.5h, or 45 for seconds, or off",
    ),
];

/// Argument of `--set`, and the expected message.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("materials.glod.roughness=0.3", r#"no "materials.glod"; did you mean "materials.gold"?"#),
    (
        "materials.gold.rougness=0.3",
        r#"no "materials.gold.rougness"; did you mean "materials.gold.roughness"?"#,
    ),
    (
        "materials.gold.color=0.3",
        r#"no "materials.gold.color"; it is for type "sheen", and this is "conductor""#,
    ),
    (
        "materials.gold.reflectance=0.3",
        r#"no "materials.gold.reflectance"; it is for type "diffuse" or "plastic", and this is "conductor""#,
    ),
    (
        "materials.gold.denoise=0.3",
        r#"no "materials.gold.denoise"; "materials.gold" has "type", "two_sided", "cull_backfaces", "back", "opacity", "holes_emit", "normal_map", "bump_map", "metal", "eta", "k", "roughness", "alpha", "distribution" and 2 more"#,
    ),
    ("materials.gold.roughness=2", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=0.001", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=wood", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=[0.1, 0.2, 0.3]", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    (
        "materials.gold.roughness.2=0.3",
        r#"no "materials.gold.roughness.2"; "materials.gold.roughness" has parts 0 to 1"#,
    ),
    (
        "materials.gold.scattering=compensatde",
        r#"unknown scattering "compensatde"; did you mean "compensated"?"#,
    ),
    (
        "materials.gold.metal=unobtainium",
        r#"unknown metal "unobtainium"; it is "aluminium", "brass", "chromium", "cobalt", "copper", "gold", "iridium", "iron", "mercury", "molybdenum", "nickel", "palladium", "platinum", "rhodium" and 21 more"#,
    ),
    (
        "materials.gold.type=metal",
        r#"unknown type "metal"; it is "diffuse", "conductor", "dielectric", "thin_dielectric", "plastic", "sheen", "principled", "gltf" or "blend""#,
    ),
    ("materials.white.reflectance=2", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    ("materials.white.reflectance=#12", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    ("materials.white.reflectance=[1, 1]", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    (
        "materials.white.reflectance.g=0.5",
        r#"no "materials.white.reflectance.g"; "materials.white.reflectance" has parts 0 to 2"#,
    ),
    ("materials.white.two_sided=maybe", r#""two_sided" is true or false"#),
    ("matreials.gold.roughness=0.3", r#"no "matreials"; did you mean "materials"?"#),
    ("material.gold.roughness=0.3", r#"no "material"; did you mean "materials"?"#),
    (
        "gold.roughness=0.3",
        r#"no "gold"; a scene has "render", "camera", "environment", "lights", "portals", "textures", "materials", "shapes", "groups" and "instances""#,
    ),
    ("shapes.bal.radius=1", r#"no "shapes.bal"; did you mean "shapes.ball"?"#),
    ("shapes.3.radius=1", r#"no "shapes.3"; "shapes" has "ball", "floor" and "tile""#),
    ("shapes.ball.radius=0", r#""radius" goes from 1e-9 to 1e9"#),
    ("shapes.ball.material=wihte", r#"unknown material "wihte"; did you mean "white"?"#),
    (
        "shapes.ball.material.roughness=0.3",
        r#"no "shapes.ball.material.roughness"; "shapes.ball.material" is "gold", which "materials.gold" is for"#,
    ),
    (
        "shapes.floor.radius=2",
        r#"no "shapes.floor.radius"; it is for type "sphere" or "cylinder", and this is "quad""#,
    ),
    ("shapes.tile.file=3", r#"mesh file "3" is neither an .obj nor a .ply file"#),
    ("shapes.floor.transform=2", r#""transform" is tables (Transforms), or a table (Transforms)"#),
    ("camera.fov=wide", r#""fov" is a number from 0.001 to 179.999"#),
    ("camera.fov=200", r#""fov" goes from 0.001 to 179.999"#),
    ("camera.fov=", r#""" is no value"#),
    ("camera.position=[0, 1", r#""[0, 1" is no value"#),
    ("camera.position=[0, 1]", r#""position" is [x, y, z]"#),
    ("camera.position.3=1", r#"no "camera.position.3"; "camera.position" has parts 0 to 2"#),
    ("camera.fov.x=2", r#"no "camera.fov.x"; "camera.fov" has no parts"#),
    ("camera..fov=2", r#""camera..fov" is no path, as camera.fov or shapes."tall box".emission is one"#),
    ("camera.fov_axis=u", r#"unknown fov_axis "u"; it is "x", "y", "diagonal", "smaller" or "larger""#),
    ("render.spp=1.5", r#""spp" is a whole number from 1 to 1073741824"#),
    ("render.spp=-1", r#""spp" is a whole number from 1 to 1073741824"#),
    ("render.samples=16", r#"no "render.samples"; it is called "spp" here"#),
    ("render.size=[16]", r#""size" is […] of 2: a whole number from 1 to 4294967295"#),
    ("render=fast", r#""render" is a table ([render])"#),
    ("environment.file=sky.exr", r#"no "environment.file"; it is for type "image", and this is "constant""#),
    (r#"environment.radiance="red"#, r#""\"red" is no value"#),
    ("lights.0.intensity=3", r#"no "lights.0"; "lights" has nothing"#),
    (
        "materials.gold.type=plastic",
        r#"material "gold" lacks "reflectance", for example: reflectance = [0.7, 0.1, 0.1]"#,
    ),
    ("shapes.tile.file=absent.obj", r#"cannot read mesh file "absent.obj": no such file"#),
    (
        "render.size=[4000000, 4000000]",
        "an image of 4000000×4000000 pixels would need 2.8 PiB of memory (200 bytes a pixel); the limit is 64 GiB",
    ),
    (
        "camera.target=[0, 1, 5]",
        r#""target" is the same point as "position", so the camera has no direction"#,
    ),
];
