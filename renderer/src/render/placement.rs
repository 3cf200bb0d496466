//! Where a scene is that does not fit into a machine's memory: some of it in the host's, which stages read over a bus.

use std::fmt;

use torrance_gpu::backend::{Backend, Buffer, Place};
use torrance_text::human_bytes;

use crate::assemble::SceneData;

/// Parts of a scene that may be in the host's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Texels,
    Sky,
    SkyTables,
    Normals,
    Uvs,
    Colors,
    Sources,
    Prims,
    Instances,
    Nodes,
}

use Part::{Colors, Instances, Nodes, Normals, Prims, Sky, SkyTables, Sources, Texels, Uvs};

/// Parts in the order in which they make room: what paths read least of comes first. A hit looks up some texels, and one row of
/// each of the shading data; on its way there, a ray has gone through dozens of nodes and primitives.
const ORDER: [&[Part]; 5] =
    [&[Texels, Sky, SkyTables], &[Normals, Uvs, Colors, Sources], &[Prims], &[Instances], &[Nodes]];

const PARTS: usize = Nodes as usize + 1;

/// Bytes of each part.
type Sizes = [u64; PARTS];

fn sizes(scene: &SceneData) -> Sizes {
    let (geometry, pictures) = (&scene.geometry, &scene.pictures);
    let bytes = |part| match part {
        Texels => size_of_val(&*pictures.swatches.texels),
        Sky => pictures.environment.as_ref().map_or(0, |environment| size_of_val(&*environment.sky)),
        SkyTables => pictures.environment.as_ref().map_or(0, |environment| size_of_val(&*environment.tables)),
        Normals => size_of_val(&*geometry.normals),
        Uvs => size_of_val(&*geometry.uvs),
        Colors => size_of_val(&*geometry.colors),
        Sources => size_of_val(&*geometry.sources),
        Prims => size_of_val(&*geometry.prims),
        Instances => size_of_val(&*geometry.instances),
        Nodes => size_of_val(&*geometry.nodes),
    };
    let mut sizes = [0; PARTS];
    ORDER.into_iter().flatten().for_each(|part| sizes[*part as usize] = bytes(*part) as u64);
    sizes
}

/// Bytes that a render takes beside its scene.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Bytes of its films.
    pub(super) films: u64,
    /// Bytes of the integrator that takes least.
    pub(super) least: u64,
    /// Bytes of the smallest one that is hardly slower than what was asked for.
    pub(super) enough: u64,
}

/// Where the parts of a scene are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placement {
    /// Where those are that need not be on the host.
    otherwise: Place,
    on_host: [bool; PARTS],
    /// Bytes that the render takes, and that there were for it.
    takes: u64,
    room: u64,
}

impl Placement {
    /// All in the machine's memory, or nothing.
    pub(super) const ON_MACHINE: Self =
        Self { otherwise: Place::Machine, on_host: [false; PARTS], takes: 0, room: u64::MAX };

    /// As much in the machine's memory as there is room for now. Should others take that meanwhile, more goes to the host.
    pub(super) fn new<B: Backend>(backend: &B, scene: &SceneData, demand: Demand) -> Self {
        let anywhere = Self { otherwise: Place::Anywhere, ..Self::ON_MACHINE };
        let Some(room) = backend.room() else { return anywhere };
        let sizes = sizes(scene);
        let takes = bytes(scene) + demand.films + demand.enough;
        Self { on_host: moved(&sizes, rest(scene, &sizes), demand, room), takes, room, ..anywhere }
    }

    /// Runs `work`, which allocates a part.
    pub(super) fn put<B: Backend, R>(
        &self,
        backend: &mut B,
        part: Part,
        work: impl FnOnce(&mut B) -> R,
    ) -> R {
        let place = if self.on_host[part as usize] { Place::Host } else { self.otherwise };
        backend.placing(place, work)
    }

    /// Runs `work`, which allocates what is no [`Part`].
    pub(super) fn put_rest<B: Backend, R>(&self, backend: &mut B, work: impl FnOnce(&mut B) -> R) -> R {
        backend.placing(self.otherwise, work)
    }

    /// Whether a scene of this placement can be made into another one, and not better be placed anew.
    pub(super) fn suits<B: Backend>(&self, backend: &B, old: &SceneData, new: &SceneData) -> bool {
        let is_short = self.on_host.contains(&true);
        let growth = bytes(new).saturating_sub(bytes(old));
        sizes(old) == sizes(new)
            || (!is_short && (growth == 0 || backend.room().is_none_or(|room| growth <= room)))
    }

    /// The shortage that this placement is an answer to, before it is known how much is on the host.
    pub(super) fn shortage(&self) -> Shortage {
        Shortage { takes: self.takes, room: self.room, ..Shortage::default() }
    }
}

/// Bytes of a scene in the memory of a back end that has its own.
pub(super) fn bytes(scene: &SceneData) -> u64 {
    (scene.stats.bytes as u64).max(sizes(scene).iter().sum())
}

/// Bytes of a scene that are no [`Part`].
fn rest(scene: &SceneData, sizes: &Sizes) -> u64 {
    bytes(scene) - sizes.iter().sum::<u64>()
}

/// The parts that have to be on the host, for a machine with so much room: none, if a scene fits with the least integrator, or
/// else as many as leave room for one that is fast.
fn moved(sizes: &Sizes, rest: u64, demand: Demand, room: u64) -> [bool; PARTS] {
    let mut moved = [false; PARTS];
    let all = sizes.iter().sum::<u64>() + rest + demand.films;
    if all + demand.least <= room {
        return moved;
    }
    let excess = (all + demand.enough).saturating_sub(room);
    let mut freed = 0;
    for parts in ORDER {
        while freed < excess {
            let left = || parts.iter().map(|part| *part as usize).filter(|i| !moved[*i] && sizes[*i] > 0);
            // One that is enough, the smallest, or else the largest: so that few and little are moved.
            let enough = left().filter(|i| freed + sizes[*i] >= excess).min_by_key(|i| sizes[*i]);
            let Some(part) = enough.or_else(|| left().max_by_key(|i| sizes[*i])) else { break };
            moved[part] = true;
            freed += sizes[part];
        }
    }
    // What was moved first may have been too little to matter.
    for part in ORDER.into_iter().rev().flatten().map(|part| *part as usize) {
        if moved[part] && freed - sizes[part] >= excess {
            moved[part] = false;
            freed -= sizes[part];
        }
    }
    moved
}

/// What a render has in the host's memory, as there was no room in its machine's, and what else it went without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortage {
    /// Bytes of texels on the host, of the image of the sky, and of the tables that it is sampled by.
    pub textures: u64,
    /// Bytes of normals, texture coordinates and colours of vertices there, and of primitives' numbers.
    pub shading: u64,
    /// Bytes of the trees there, with their primitives and instances.
    pub trees: u64,
    /// Bytes of films there.
    pub films: u64,
    /// Bytes of lights, materials and other tables there.
    pub tables: u64,
    /// Slots of the wavefront's pool, and slots that were wanted; none where the megakernel stands in. `None` if they are the
    /// same.
    pub pool: Option<[u32; 2]>,
    /// Bytes that it would have taken of the machine's memory.
    pub takes: u64,
    /// Bytes that there were for it.
    pub room: u64,
}

impl Shortage {
    /// Counts a buffer that may be on the host.
    pub(super) fn count<T, B: Buffer<T>>(buffer: &B, bytes: &mut u64) {
        if buffer.is_remote() {
            *bytes += (buffer.len() * size_of::<T>()) as u64;
        }
    }

    /// What to tell people of a render on the machine of this name; `None` if nothing was short.
    pub fn note(&self, machine: &str) -> Option<String> {
        let on_host = self.on_host().map(|kinds| {
            let why = if self.takes > self.room {
                let [takes, room] = [self.takes, self.room].map(|bytes| human_bytes(bytes.into()));
                format!("the render takes {takes}, and {machine} has room for {room}")
            } else {
                format!("{machine} ran out of memory")
            };
            format!("{kinds} in host memory, since {why}; {}", self.cost())
        });
        let pool = self.pool.map(|[slots, wanted]| match slots {
            0 => {
                format!("{machine} has no room for the wavefront's paths, so the megakernel traces them all")
            }
            _ => format!("{machine} has room for only {slots} paths of the {wanted} of the wavefront's pool"),
        });
        let notes: Vec<_> = on_host.into_iter().chain(pool).collect();
        (!notes.is_empty()).then(|| format!("memory: {}", notes.join("; ")))
    }

    /// The kinds of data on the host, as the beginning of a sentence.
    fn on_host(&self) -> Option<String> {
        let kinds = [
            (self.textures, "textures"),
            (self.shading, "shading data"),
            (self.trees, "trees"),
            (self.films, "films"),
            (self.tables, "tables"),
        ];
        let told = kinds.iter().filter(|(bytes, _)| *bytes > 0);
        let told: Vec<_> =
            told.map(|(bytes, kind)| format!("{} of {kind}", human_bytes((*bytes).into()))).collect();
        let (last, others) = told.split_last()?;
        let all = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        Some(format!("{all} {}", if others.is_empty() && !last.ends_with('s') { "is" } else { "are" }))
    }

    /// What it costs that they are there.
    fn cost(&self) -> impl fmt::Display {
        match self.trees {
            0 => "reading them over the bus takes two to three times as long, or more",
            _ => "reading them over the bus takes five to ten times as long, or more",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use crate::described;
    use torrance_gpu::backend::cpu::Cpu;

    /// Texels, sky, its tables, normals, texture coordinates, colours, sources, primitives, instances, nodes.
    const SIZES: Sizes = [1000, 300, 0, 400, 200, 0, 30, 500, 60, 80];
    const PARTS_IN_ALL: u64 = 2570;
    const REST: u64 = 10;

    fn parts(demand: Demand, room: u64) -> Vec<Part> {
        let moved = moved(&SIZES, REST, demand, room);
        ORDER.into_iter().flatten().copied().filter(|part| moved[*part as usize]).collect()
    }

    fn beside(films: u64) -> Demand {
        Demand { films, ..Demand::default() }
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(SIZES.iter().sum::<u64>(), PARTS_IN_ALL);
        assert_eq!(parts(beside(70), PARTS_IN_ALL + REST + 70), []);
        assert_eq!(parts(Demand::default(), u64::MAX), []);
        // An integrator that takes little stands in for one that would take more.
        let demand = Demand { films: 70, least: 5, enough: 900 };
        assert_eq!(parts(demand, PARTS_IN_ALL + REST + 75), []);
        assert_eq!(
            parts(demand, PARTS_IN_ALL + REST + 74),
            [Texels],
            "if it stays too large, there is room for both"
        );
    }

    #[test]
    fn parts_move_in_their_order_and_no_more_than_needed() {
        let excess = |bytes| parts(beside(70), PARTS_IN_ALL + REST + 70 - bytes);
        assert_eq!(excess(1), [Sky], "the smaller one is enough");
        assert_eq!(excess(300), [Sky]);
        assert_eq!(excess(301), [Texels]);
        assert_eq!(excess(1001), [Texels, Sky]);
        assert_eq!(excess(1300), [Texels, Sky]);
        assert_eq!(excess(1301), [Texels, Sky, Sources]);
        assert_eq!(excess(1331), [Texels, Sky, Uvs]);
        assert_eq!(excess(1701), [Texels, Sky, Normals, Sources]);
        assert_eq!(excess(1930), [Texels, Sky, Normals, Uvs, Sources]);
        assert_eq!(
            excess(2431),
            [Texels, Sky, Normals, Uvs, Prims, Instances],
            "the sources have room again"
        );
        assert_eq!(excess(2491), [Texels, Sky, Normals, Uvs, Sources, Prims, Nodes]);
        assert_eq!(parts(beside(70), 0).len(), 8, "all there is");
    }

    #[test]
    fn what_was_moved_in_vain_stays() {
        let mut sizes = [0; PARTS];
        (sizes[Texels as usize], sizes[Prims as usize]) = (5, 200);
        let mut expected = [false; PARTS];
        expected[Prims as usize] = true;
        assert_eq!(moved(&sizes, 0, Demand::default(), 105), expected);
    }

    #[test]
    fn machines_whose_memory_is_the_hosts_move_nothing() {
        let scene = "[render]\nsize = [8, 8]\n[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n\
                     [materials.grey]\ntype = \"diffuse\"\nreflectance = 0.5\n[[shapes]]\ntype = \"box\"\nmaterial = \"grey\"\n";
        let scene = assemble(&described(scene)).unwrap();
        assert!(bytes(&scene) >= sizes(&scene).iter().sum() && sizes(&scene)[Prims as usize] > 0);
        let cpu = Cpu::new(Some(1)).unwrap();
        let placement = Placement::new(&cpu, &scene, beside(1 << 60));
        assert_eq!((placement.on_host, placement.otherwise), ([false; PARTS], Place::Anywhere));
        assert_eq!(placement.shortage().note("CPU"), None);
        assert!(placement.suits(&cpu, &scene, &scene));
    }

    #[test]
    fn shortages_are_told_in_a_line() {
        assert_eq!(Shortage::default().note("cuda:0"), None);
        let (takes, room) = (6 << 30, 2 << 30);
        let short = Shortage { takes, room, textures: 3 << 30, shading: 3 << 29, ..Shortage::default() };
        assert_eq!(
            short.note("cuda:0").unwrap(),
            "memory: 3 GiB of textures and 1.5 GiB of shading data are in host memory, since the render takes 6 GiB, and \
             cuda:0 has room for 2 GiB; reading them over the bus takes two to three times as long, or more"
        );
        let short = Shortage { trees: 5, pool: Some([1024, 4096]), room, ..Shortage::default() };
        assert_eq!(
            short.note("cuda:1").unwrap(),
            "memory: 5 bytes of trees are in host memory, since cuda:1 ran out of memory; reading them over the bus takes \
             five to ten times as long, or more; cuda:1 has room for only 1024 paths of the 4096 of the wavefront's pool"
        );
        let short = Shortage { pool: Some([0, 4096]), ..Shortage::default() };
        assert_eq!(
            short.note("cuda:0").unwrap(),
            "memory: cuda:0 has no room for the wavefront's paths, so the megakernel traces them all"
        );
    }
}
