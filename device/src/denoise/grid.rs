//! Where pixels are in planes, and which pixels are near one another.

/// Largest distance along an axis of pixels that are compared.
pub const MOST_RADIUS: i32 = 9;

/// Largest distance along an axis of what belongs to the surroundings of a pixel.
pub const MOST_PATCH: i32 = 3;

/// Pixels that are taken together, at most: rows are multiples of that.
const LANES: u32 = 16;

/// Columns on either side of the image: what is compared reaches so far, and whole registers beyond.
const ASIDE: i32 = 48;

/// Rows above and below the image.
const ABOVE: i32 = 16;

// The farthest that is read: pixels beside those that are compared, and their surroundings.
const _: () = assert!(2 * MOST_RADIUS + MOST_PATCH <= ASIDE - LANES as i32);
const _: () = assert!(MOST_RADIUS + MOST_PATCH <= ABOVE);

/// The places of pixels in planes of numbers: row by row, with margins.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Grid {
    /// Width of the image, pixels. Not zero.
    pub width: u32,
    /// Its height. Not zero.
    pub height: u32,
}

impl Grid {
    /// The width, rounded up to whole registers.
    #[inline(always)]
    pub fn columns(self) -> u32 {
        self.width.div_ceil(LANES) * LANES
    }

    /// Numbers of a row of a plane.
    #[inline(always)]
    pub fn stride(self) -> u32 {
        self.columns() + 2 * ASIDE as u32
    }

    /// Rows of a plane.
    #[inline(always)]
    pub fn rows(self) -> u32 {
        self.height + 2 * ABOVE as u32
    }

    /// Numbers of a plane.
    #[inline(always)]
    pub fn plane(self) -> usize {
        self.stride() as usize * self.rows() as usize
    }

    /// The place of a pixel, which is in the image or in its margins.
    #[inline(always)]
    pub fn at(self, x: i32, y: i32) -> usize {
        (y + ABOVE) as usize * self.stride() as usize + (x + ASIDE) as usize
    }

    /// The pixel of a place.
    #[inline(always)]
    pub(super) fn pixel(self, place: u32) -> [i32; 2] {
        let stride = self.stride().max(1);
        [(place % stride) as i32 - ASIDE, (place / stride) as i32 - ABOVE]
    }
}

/// Some rows of the image, and what is kept for the offsets of their pixels to those nearby.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Strip {
    /// The image.
    pub grid: Grid,
    /// The first row.
    pub top: i32,
    /// Number of rows.
    pub rows: u32,
    /// Pixels are compared with those at most so far along each axis, at most [`MOST_RADIUS`].
    pub radius: i32,
}

/// A table of numbers for the pixels around a strip: a part of it for each offset.
#[derive(Clone, Copy)]
pub(super) struct Table {
    /// The pixel in its corner.
    left: i32,
    top: i32,
    columns: u32,
    rows: u32,
}

impl Strip {
    /// Number of offsets to pixels nearby, of each pair of opposite ones one.
    #[inline(always)]
    pub fn offsets(&self) -> u32 {
        (2 * self.radius * (self.radius + 1)) as u32
    }

    /// Distances: also of the pixels from which an offset leads into the strip.
    #[inline(always)]
    pub(super) fn distances(&self) -> Table {
        let Self { grid, top, rows, radius, .. } = *self;
        let aside = LANES as i32;
        Table {
            left: -aside,
            top: top - radius,
            columns: grid.columns() + 2 * aside as u32,
            rows: rows + radius as u32,
        }
    }

    /// Differences, of which distances are the means over surroundings.
    #[inline(always)]
    pub(super) fn differences(&self) -> Table {
        let (Table { left, top, columns, rows }, reach) = (self.distances(), MOST_PATCH);
        let aside = LANES as i32;
        Table {
            left: left - aside,
            top: top - reach,
            columns: columns + 2 * aside as u32,
            rows: rows + 2 * reach as u32,
        }
    }

    /// Numbers in the table of distances, and in that of differences.
    pub fn table_sizes(&self) -> [usize; 2] {
        [self.distances(), self.differences()].map(|table| table.size() * self.offsets() as usize)
    }

    /// The pixel of an invocation: one for every pixel of the strip, and those beside that fill registers.
    #[inline(always)]
    pub(super) fn pixel(&self, i: u32) -> [i32; 2] {
        let columns = self.grid.columns().max(1);
        [(i % columns) as i32, self.top + (i / columns) as i32]
    }

    /// Number of invocations.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.grid.columns() * self.rows
    }
}

impl Table {
    /// Numbers for one offset.
    #[inline(always)]
    pub(super) fn size(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Numbers for all of `offsets`.
    #[inline(always)]
    pub(super) fn count(&self, offsets: u32) -> u32 {
        self.columns * self.rows * offsets
    }

    /// The place of a pixel in the part of an offset.
    #[inline(always)]
    pub(super) fn at(&self, x: i32, y: i32) -> usize {
        (y - self.top) as usize * self.columns as usize + (x - self.left) as usize
    }

    /// The pixel and the number of the offset of a place.
    #[inline(always)]
    pub(super) fn pixel(&self, place: u32) -> ([i32; 2], u32) {
        let [columns, rows] = [self.columns, self.rows].map(|n| n.max(1));
        let [row, x] = [place / columns, place % columns];
        ([self.left + x as i32, self.top + (row % rows) as i32], row / rows)
    }
}

/// The offsets to pixels nearby, of each pair of opposite ones one, in the order in which tables hold them: along the row to the right, and
/// then the rows below.
#[derive(Clone, Copy, Debug)]
pub struct Offsets {
    radius: i32,
    /// The next one.
    next: [i32; 2],
}

impl Offsets {
    /// Those of at most `radius` along each axis.
    #[inline(always)]
    pub fn new(radius: i32) -> Self {
        Self { radius, next: [1, 0] }
    }

    /// The offset of a number.
    #[inline(always)]
    pub(super) fn of(radius: i32, number: u32) -> [i32; 2] {
        let (across, place) = ((2 * radius + 1).max(1) as u32, number + 1 + radius as u32);
        [(place % across) as i32 - radius, (place / across) as i32]
    }
}

impl Iterator for Offsets {
    type Item = [i32; 2];

    #[inline(always)]
    fn next(&mut self) -> Option<[i32; 2]> {
        let [x, y] = self.next;
        if y > self.radius {
            return None;
        }
        self.next = if x < self.radius { [x + 1, y] } else { [-self.radius, y + 1] };
        Some([x, y])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_their_opposites_are_all_but_the_pixel_itself() {
        for radius in 1..=MOST_RADIUS {
            let strip = Strip { grid: Grid { width: 20, height: 9 }, top: 0, rows: 4, radius };
            let offsets: std::vec::Vec<_> = Offsets::new(radius).collect();
            assert_eq!(offsets.len() as u32, strip.offsets());
            let mut all: std::vec::Vec<_> = offsets.iter().flat_map(|&[x, y]| [[x, y], [-x, -y]]).collect();
            all.sort_unstable();
            all.dedup();
            let across = 2 * radius + 1;
            assert_eq!((all.len() as i32, all.contains(&[0, 0])), (across * across - 1, false));
            assert!(offsets.iter().enumerate().all(|(i, o)| Offsets::of(radius, i as u32) == *o));
        }
    }

    #[test]
    fn places_lead_back_to_pixels() {
        let strip = Strip { grid: Grid { width: 35, height: 70 }, top: 40, rows: 11, radius: 7 };
        for table in [strip.distances(), strip.differences()] {
            for number in [0, 3, strip.offsets() - 1] {
                for place in (0..table.size()).step_by(7) {
                    let (pixel, offset) = table.pixel((number as usize * table.size() + place) as u32);
                    assert_eq!((table.at(pixel[0], pixel[1]), offset), (place, number));
                }
            }
        }
        let grid = strip.grid;
        assert!((0..grid.plane() as u32).all(|place| {
            let [x, y] = grid.pixel(place);
            grid.at(x, y) == place as usize
        }));
    }
}
