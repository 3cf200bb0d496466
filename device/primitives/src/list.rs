//! The one list of the primitives' kernels.
//!
//! It expands to the GPU's entry points (`device/kernels`), to the names that the host launches by, and to the table of
//! launches.

use super::*;

/// Calls `$with!` with the name and the type of every kernel.
#[macro_export]
macro_rules! for_each_primitive {
    ($with:ident) => {
        $with! {
            histogram_u32: histogram::Histogram<histogram::Digits>;
            histogram_f32: histogram::Histogram<histogram::Even>;
            reduce_sum_u32: reduce::Reduce<Sum<u32>>;
            reduce_sum_i32: reduce::Reduce<Sum<i32>>;
            reduce_sum_f32: reduce::Reduce<Sum<f32>>;
            reduce_sum_u64: reduce::Reduce<Sum<u64>>;
            reduce_min_u32: reduce::Reduce<Min<u32>>;
            reduce_min_i32: reduce::Reduce<Min<i32>>;
            reduce_min_f32: reduce::Reduce<Min<f32>>;
            reduce_min_u64: reduce::Reduce<Min<u64>>;
            reduce_max_u32: reduce::Reduce<Max<u32>>;
            reduce_max_i32: reduce::Reduce<Max<i32>>;
            reduce_max_f32: reduce::Reduce<Max<f32>>;
            reduce_max_u64: reduce::Reduce<Max<u64>>;
            reduce_mean_f32: reduce::Reduce<reduce::Mean>;
            reduce_argmax_u32: reduce::Reduce<reduce::ArgMax<u32>>;
            reduce_argmax_i32: reduce::Reduce<reduce::ArgMax<i32>>;
            reduce_argmax_f32: reduce::Reduce<reduce::ArgMax<f32>>;
            scan_sum_u32: scan::LookBack<Sum<u32>>;
            scan_tile_sums_sum_u32: scan::TileSums<Sum<u32>>;
            scan_partials_sum_u32: scan::Partials<Sum<u32>>;
            scan_tiles_sum_u32: scan::TileScan<Sum<u32>>;
            scan_blelloch_sum_u32: scan::Blelloch<Sum<u32>>;
            scan_add_sum_u32: scan::Add<Sum<u32>>;
            scan_hillis_steele_sum_u32: scan::HillisSteele<Sum<u32>>;
            scan_sum_i32: scan::LookBack<Sum<i32>>;
            scan_tile_sums_sum_i32: scan::TileSums<Sum<i32>>;
            scan_partials_sum_i32: scan::Partials<Sum<i32>>;
            scan_tiles_sum_i32: scan::TileScan<Sum<i32>>;
            scan_blelloch_sum_i32: scan::Blelloch<Sum<i32>>;
            scan_add_sum_i32: scan::Add<Sum<i32>>;
            scan_hillis_steele_sum_i32: scan::HillisSteele<Sum<i32>>;
            scan_sum_f32: scan::LookBack<Sum<f32>>;
            scan_tile_sums_sum_f32: scan::TileSums<Sum<f32>>;
            scan_partials_sum_f32: scan::Partials<Sum<f32>>;
            scan_tiles_sum_f32: scan::TileScan<Sum<f32>>;
            scan_blelloch_sum_f32: scan::Blelloch<Sum<f32>>;
            scan_add_sum_f32: scan::Add<Sum<f32>>;
            scan_hillis_steele_sum_f32: scan::HillisSteele<Sum<f32>>;
            scan_sum_u64: scan::LookBack<Sum<u64>>;
            scan_tile_sums_sum_u64: scan::TileSums<Sum<u64>>;
            scan_partials_sum_u64: scan::Partials<Sum<u64>>;
            scan_tiles_sum_u64: scan::TileScan<Sum<u64>>;
            scan_blelloch_sum_u64: scan::Blelloch<Sum<u64>>;
            scan_add_sum_u64: scan::Add<Sum<u64>>;
            scan_hillis_steele_sum_u64: scan::HillisSteele<Sum<u64>>;
            scan_min_u32: scan::LookBack<Min<u32>>;
            scan_tile_sums_min_u32: scan::TileSums<Min<u32>>;
            scan_partials_min_u32: scan::Partials<Min<u32>>;
            scan_tiles_min_u32: scan::TileScan<Min<u32>>;
            scan_blelloch_min_u32: scan::Blelloch<Min<u32>>;
            scan_add_min_u32: scan::Add<Min<u32>>;
            scan_hillis_steele_min_u32: scan::HillisSteele<Min<u32>>;
            scan_min_i32: scan::LookBack<Min<i32>>;
            scan_tile_sums_min_i32: scan::TileSums<Min<i32>>;
            scan_partials_min_i32: scan::Partials<Min<i32>>;
            scan_tiles_min_i32: scan::TileScan<Min<i32>>;
            scan_blelloch_min_i32: scan::Blelloch<Min<i32>>;
            scan_add_min_i32: scan::Add<Min<i32>>;
            scan_hillis_steele_min_i32: scan::HillisSteele<Min<i32>>;
            scan_min_f32: scan::LookBack<Min<f32>>;
            scan_tile_sums_min_f32: scan::TileSums<Min<f32>>;
            scan_partials_min_f32: scan::Partials<Min<f32>>;
            scan_tiles_min_f32: scan::TileScan<Min<f32>>;
            scan_blelloch_min_f32: scan::Blelloch<Min<f32>>;
            scan_add_min_f32: scan::Add<Min<f32>>;
            scan_hillis_steele_min_f32: scan::HillisSteele<Min<f32>>;
            scan_min_u64: scan::LookBack<Min<u64>>;
            scan_tile_sums_min_u64: scan::TileSums<Min<u64>>;
            scan_partials_min_u64: scan::Partials<Min<u64>>;
            scan_tiles_min_u64: scan::TileScan<Min<u64>>;
            scan_blelloch_min_u64: scan::Blelloch<Min<u64>>;
            scan_add_min_u64: scan::Add<Min<u64>>;
            scan_hillis_steele_min_u64: scan::HillisSteele<Min<u64>>;
            scan_max_u32: scan::LookBack<Max<u32>>;
            scan_tile_sums_max_u32: scan::TileSums<Max<u32>>;
            scan_partials_max_u32: scan::Partials<Max<u32>>;
            scan_tiles_max_u32: scan::TileScan<Max<u32>>;
            scan_blelloch_max_u32: scan::Blelloch<Max<u32>>;
            scan_add_max_u32: scan::Add<Max<u32>>;
            scan_hillis_steele_max_u32: scan::HillisSteele<Max<u32>>;
            scan_max_i32: scan::LookBack<Max<i32>>;
            scan_tile_sums_max_i32: scan::TileSums<Max<i32>>;
            scan_partials_max_i32: scan::Partials<Max<i32>>;
            scan_tiles_max_i32: scan::TileScan<Max<i32>>;
            scan_blelloch_max_i32: scan::Blelloch<Max<i32>>;
            scan_add_max_i32: scan::Add<Max<i32>>;
            scan_hillis_steele_max_i32: scan::HillisSteele<Max<i32>>;
            scan_max_f32: scan::LookBack<Max<f32>>;
            scan_tile_sums_max_f32: scan::TileSums<Max<f32>>;
            scan_partials_max_f32: scan::Partials<Max<f32>>;
            scan_tiles_max_f32: scan::TileScan<Max<f32>>;
            scan_blelloch_max_f32: scan::Blelloch<Max<f32>>;
            scan_add_max_f32: scan::Add<Max<f32>>;
            scan_hillis_steele_max_f32: scan::HillisSteele<Max<f32>>;
            scan_max_u64: scan::LookBack<Max<u64>>;
            scan_tile_sums_max_u64: scan::TileSums<Max<u64>>;
            scan_partials_max_u64: scan::Partials<Max<u64>>;
            scan_tiles_max_u64: scan::TileScan<Max<u64>>;
            scan_blelloch_max_u64: scan::Blelloch<Max<u64>>;
            scan_add_max_u64: scan::Add<Max<u64>>;
            scan_hillis_steele_max_u64: scan::HillisSteele<Max<u64>>;
            radix_sort_count_u32: radix_sort::Count<u32>;
            radix_sort_keys_u32: radix_sort::Pass<u32, ()>;
            radix_sort_u32_u32: radix_sort::Pass<u32, u32>;
            radix_sort_u32_u64: radix_sort::Pass<u32, u64>;
            radix_sort_count_i32: radix_sort::Count<i32>;
            radix_sort_keys_i32: radix_sort::Pass<i32, ()>;
            radix_sort_i32_u32: radix_sort::Pass<i32, u32>;
            radix_sort_i32_u64: radix_sort::Pass<i32, u64>;
            radix_sort_count_f32: radix_sort::Count<f32>;
            radix_sort_keys_f32: radix_sort::Pass<f32, ()>;
            radix_sort_f32_u32: radix_sort::Pass<f32, u32>;
            radix_sort_f32_u64: radix_sort::Pass<f32, u64>;
            radix_sort_count_u64: radix_sort::Count<u64>;
            radix_sort_keys_u64: radix_sort::Pass<u64, ()>;
            radix_sort_u64_u32: radix_sort::Pass<u64, u32>;
            radix_sort_u64_u64: radix_sort::Pass<u64, u64>;
            split_sort_splits_keys: split_sort::Splits<()>;
            split_sort_network_keys: split_sort::Network<()>;
            split_sort_finish_keys: split_sort::Finish<()>;
            split_sort_splits_pairs: split_sort::Splits<u32>;
            split_sort_network_pairs: split_sort::Network<u32>;
            split_sort_finish_pairs: split_sort::Finish<u32>;
            scan_affine: scan::LookBack<Affine>;
            scan_tile_sums_affine: scan::TileSums<Affine>;
            scan_partials_affine: scan::Partials<Affine>;
            scan_tiles_affine: scan::TileScan<Affine>;
            scan_blelloch_affine: scan::Blelloch<Affine>;
            scan_add_affine: scan::Add<Affine>;
            scan_hillis_steele_affine: scan::HillisSteele<Affine>;
            compact_flagged_4: select::Select<select::Flagged<u32>, false>;
            partition_flagged_4: select::Select<select::Flagged<u32>, true>;
            compact_flagged_8: select::Select<select::Flagged<u64>, false>;
            partition_flagged_8: select::Select<select::Flagged<u64>, true>;
            compact_flagged_16: select::Select<select::Flagged<Quad<u32>>, false>;
            partition_flagged_16: select::Select<select::Flagged<Quad<u32>>, true>;
            compact_indices: select::Select<select::Indices, false>;
            partition_indices: select::Select<select::Indices, true>;
            compact_below_u32: select::Select<select::If<select::Below<u32>>, false>;
            partition_below_u32: select::Select<select::If<select::Below<u32>>, true>;
            compact_below_i32: select::Select<select::If<select::Below<i32>>, false>;
            partition_below_i32: select::Select<select::If<select::Below<i32>>, true>;
            compact_below_f32: select::Select<select::If<select::Below<f32>>, false>;
            partition_below_f32: select::Select<select::If<select::Below<f32>>, true>;
            compact_below_u64: select::Select<select::If<select::Below<u64>>, false>;
            partition_below_u64: select::Select<select::If<select::Below<u64>>, true>;
            run_length_4: run_length::RunLength<u32>;
            run_length_8: run_length::RunLength<u64>;
            merge_sort_tiles_ascending_u32: merge_sort::SortTiles<merge_sort::Ascending<u32>, ()>;
            merge_sort_tiles_ascending_u32_pairs: merge_sort::SortTiles<merge_sort::Ascending<u32>, u32>;
            merge_sort_splits_ascending_u32: merge_sort::SplitRuns<merge_sort::Ascending<u32>>;
            merge_sort_runs_ascending_u32: merge_sort::MergeRuns<merge_sort::Ascending<u32>, ()>;
            merge_sort_runs_ascending_u32_pairs: merge_sort::MergeRuns<merge_sort::Ascending<u32>, u32>;
            merge_sort_tiles_ascending_i32: merge_sort::SortTiles<merge_sort::Ascending<i32>, ()>;
            merge_sort_tiles_ascending_i32_pairs: merge_sort::SortTiles<merge_sort::Ascending<i32>, u32>;
            merge_sort_splits_ascending_i32: merge_sort::SplitRuns<merge_sort::Ascending<i32>>;
            merge_sort_runs_ascending_i32: merge_sort::MergeRuns<merge_sort::Ascending<i32>, ()>;
            merge_sort_runs_ascending_i32_pairs: merge_sort::MergeRuns<merge_sort::Ascending<i32>, u32>;
            merge_sort_tiles_ascending_f32: merge_sort::SortTiles<merge_sort::Ascending<f32>, ()>;
            merge_sort_tiles_ascending_f32_pairs: merge_sort::SortTiles<merge_sort::Ascending<f32>, u32>;
            merge_sort_splits_ascending_f32: merge_sort::SplitRuns<merge_sort::Ascending<f32>>;
            merge_sort_runs_ascending_f32: merge_sort::MergeRuns<merge_sort::Ascending<f32>, ()>;
            merge_sort_runs_ascending_f32_pairs: merge_sort::MergeRuns<merge_sort::Ascending<f32>, u32>;
            merge_sort_tiles_ascending_u64: merge_sort::SortTiles<merge_sort::Ascending<u64>, ()>;
            merge_sort_tiles_ascending_u64_pairs: merge_sort::SortTiles<merge_sort::Ascending<u64>, u32>;
            merge_sort_splits_ascending_u64: merge_sort::SplitRuns<merge_sort::Ascending<u64>>;
            merge_sort_runs_ascending_u64: merge_sort::MergeRuns<merge_sort::Ascending<u64>, ()>;
            merge_sort_runs_ascending_u64_pairs: merge_sort::MergeRuns<merge_sort::Ascending<u64>, u32>;
            merge_sort_tiles_descending_u32: merge_sort::SortTiles<merge_sort::Descending<u32>, ()>;
            merge_sort_tiles_descending_u32_pairs: merge_sort::SortTiles<merge_sort::Descending<u32>, u32>;
            merge_sort_splits_descending_u32: merge_sort::SplitRuns<merge_sort::Descending<u32>>;
            merge_sort_runs_descending_u32: merge_sort::MergeRuns<merge_sort::Descending<u32>, ()>;
            merge_sort_runs_descending_u32_pairs: merge_sort::MergeRuns<merge_sort::Descending<u32>, u32>;
            merge_sort_tiles_descending_i32: merge_sort::SortTiles<merge_sort::Descending<i32>, ()>;
            merge_sort_tiles_descending_i32_pairs: merge_sort::SortTiles<merge_sort::Descending<i32>, u32>;
            merge_sort_splits_descending_i32: merge_sort::SplitRuns<merge_sort::Descending<i32>>;
            merge_sort_runs_descending_i32: merge_sort::MergeRuns<merge_sort::Descending<i32>, ()>;
            merge_sort_runs_descending_i32_pairs: merge_sort::MergeRuns<merge_sort::Descending<i32>, u32>;
            merge_sort_tiles_descending_f32: merge_sort::SortTiles<merge_sort::Descending<f32>, ()>;
            merge_sort_tiles_descending_f32_pairs: merge_sort::SortTiles<merge_sort::Descending<f32>, u32>;
            merge_sort_splits_descending_f32: merge_sort::SplitRuns<merge_sort::Descending<f32>>;
            merge_sort_runs_descending_f32: merge_sort::MergeRuns<merge_sort::Descending<f32>, ()>;
            merge_sort_runs_descending_f32_pairs: merge_sort::MergeRuns<merge_sort::Descending<f32>, u32>;
            merge_sort_tiles_descending_u64: merge_sort::SortTiles<merge_sort::Descending<u64>, ()>;
            merge_sort_tiles_descending_u64_pairs: merge_sort::SortTiles<merge_sort::Descending<u64>, u32>;
            merge_sort_splits_descending_u64: merge_sort::SplitRuns<merge_sort::Descending<u64>>;
            merge_sort_runs_descending_u64: merge_sort::MergeRuns<merge_sort::Descending<u64>, ()>;
            merge_sort_runs_descending_u64_pairs: merge_sort::MergeRuns<merge_sort::Descending<u64>, u32>;
            merge_sort_tiles_low_half: merge_sort::SortTiles<merge_sort::LowHalf, ()>;
            merge_sort_tiles_low_half_pairs: merge_sort::SortTiles<merge_sort::LowHalf, u32>;
            merge_sort_splits_low_half: merge_sort::SplitRuns<merge_sort::LowHalf>;
            merge_sort_runs_low_half: merge_sort::MergeRuns<merge_sort::LowHalf, ()>;
            merge_sort_runs_low_half_pairs: merge_sort::MergeRuns<merge_sort::LowHalf, u32>;
            copy_4: moves::Copying<u32>;
            copy_8: moves::Copying<u64>;
            copy_16: moves::Copying<Quad<u32>>;
            fill: moves::Filling;
            transpose_4: transpose::Transpose<u32>;
            transpose_8: transpose::Transpose<u64>;
            transpose_16: transpose::Transpose<Quad<u32>>;
            gather_4: gather::Gather<u32>;
            gather_8: gather::Gather<u64>;
            gather_16: gather::Gather<Quad<u32>>;
            scatter_4: gather::Scatter<u32>;
            scatter_8: gather::Scatter<u64>;
            scatter_16: gather::Scatter<Quad<u32>>;
            sat_tiles_f32: sat::TileSums<sat::Narrow, 1>;
            sat_tiles_f32_rgba: sat::TileSums<sat::Narrow, 4>;
            sat_tiles_f64: sat::TileSums<sat::Wide, 1>;
            sat_tiles_f64_rgba: sat::TileSums<sat::Wide, 4>;
            sat_tiles_u32: sat::TileSums<sat::Whole<u32>, 1>;
            sat_tiles_u64: sat::TileSums<sat::Whole<u64>, 1>;
            sat_scan_f64: sat::ScanDown<f64>;
            sat_scan_u32: sat::ScanDown<u32>;
            sat_scan_u64: sat::ScanDown<u64>;
            sat_corners_f64: sat::Corners<f64, 1>;
            sat_corners_f64_rgba: sat::Corners<f64, 4>;
            sat_corners_u32: sat::Corners<u32, 1>;
            sat_corners_u64: sat::Corners<u64, 1>;
            sat_f32: sat::Integrate<sat::Narrow, 1>;
            sat_f32_rgba: sat::Integrate<sat::Narrow, 4>;
            sat_f64: sat::Integrate<sat::Wide, 1>;
            sat_f64_rgba: sat::Integrate<sat::Wide, 4>;
            sat_u32: sat::Integrate<sat::Whole<u32>, 1>;
            sat_u64: sat::Integrate<sat::Whole<u64>, 1>;
            box_blur: sat::BoxBlur<1>;
            box_blur_rgba: sat::BoxBlur<4>;
            luminance_rgb: luminance::Luminance<3>;
            luminance_rgba: luminance::Luminance<4>;
            convolve: convolution::Convolve;
            defocus_circles: defocus::Circles;
            defocus_slice: defocus::Slice;
            defocus_cover: defocus::Cover;
            defocus_behind: defocus::Behind;
            defocus_develop: defocus::Develop;
        }
    };
}

/// A kernel that is in the list, and so an entry point of the GPU's module.
pub trait Entry {
    /// Its name.
    const NAME: &'static str;
}

macro_rules! entries {
    ($($name:ident: $kernel:ty;)*) => {
        $(impl Entry for $kernel {
            const NAME: &'static str = stringify!($name);
        })*

        /// How a GPU launches every kernel of the list.
        pub const KERNELS: &[Launch] = &[$(Launch {
            stage: stringify!($name),
            block: <$kernel as Kernel>::BLOCK,
            blocks: <$kernel as Kernel>::BLOCKS,
            shared: <$kernel as Kernel>::SHARED,
        }),*];
    };
}
for_each_primitive!(entries);
