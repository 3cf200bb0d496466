//! Views of a scene, each of which adds to another what one more part of the crate reads: traversal reads
//! [`crate::bvh::Geometry`], materials [`crate::material::Surfaces`], lights [`crate::light::Lighting`], and paths all of
//! a [`crate::scene::SceneView`]. Whoever wants less takes a larger view as it is.

/// Makes a view one that adds to another, which is its first field.
macro_rules! extends {
    ($View:ident with $field:ident: $Less:ident) => {
        // Where the smaller view is in memory, the larger one is.
        const _: () = assert!(core::mem::offset_of!($View, $field) == 0);

        impl core::ops::Deref for $View {
            type Target = $Less;

            #[inline(always)]
            fn deref(&self) -> &$Less {
                &self.$field
            }
        }

        impl core::ops::DerefMut for $View {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut $Less {
                &mut self.$field
            }
        }

        impl $View {
            #[inline(always)]
            #[cfg(target_arch = "nvptx64")]
            pub(crate) const fn kept(&self) -> *const () {
                self.$field.kept()
            }

            /// As [`crate::bvh::Geometry::shared`].
            #[inline(always)]
            pub const fn shared(&self) -> &Self {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the host put it there, whole, and nothing writes it while stages run.
                return unsafe { &*self.kept().cast() };
                #[cfg(not(target_arch = "nvptx64"))]
                self
            }
        }
    };
}
pub(crate) use extends;
