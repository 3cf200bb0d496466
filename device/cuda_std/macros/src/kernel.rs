//! Checking and expanding one kernel.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Pat, Result, ReturnType, Signature, Type, Visibility};

/// The attribute's expansion, or what is wrong with the function.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "`#[kernel]` takes no arguments"));
    }
    let kernel: ItemFn = syn::parse2(item.clone())
        .map_err(|_| Error::new_spanned(&item, "`#[kernel]` goes on a function with a body"))?;
    check(&kernel)?;

    let ItemFn { attrs, sig, block, .. } = &kernel;
    let Signature { ident, inputs, .. } = sig;
    let assertions = assertions(sig);
    Ok(quote! {
        #(#attrs)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn #ident(#inputs) #block

        #(#attrs)*
        #[cfg(not(target_arch = "nvptx64"))]
        pub unsafe fn #ident(#inputs) #block

        #assertions
    })
}

/// Compile-time proof that every argument is `Copy` and has a layout that host and GPU agree about.
fn assertions(sig: &Signature) -> TokenStream {
    let types: Vec<&Type> = sig.inputs.iter().filter_map(argument_type).collect();
    let copies = types.iter().map(|ty| quote_spanned!(ty.span()=> kernel_argument_must_be_copy::<#ty>();));
    quote! {
        const _: () = {
            const fn kernel_argument_must_be_copy<T: ::core::marker::Copy>() {}
            #[allow(dead_code, reason = "only its types are checked")]
            fn arguments_are_copy() {
                #(#copies)*
            }
            #[allow(dead_code, reason = "only its types are checked")]
            #[deny(improper_ctypes_definitions)]
            extern "C" fn arguments_have_a_fixed_layout(#(_: #types),*) {}
        };
    }
}

fn argument_type(argument: &FnArg) -> Option<&Type> {
    match argument {
        FnArg::Typed(typed) => Some(&typed.ty),
        FnArg::Receiver(_) => None,
    }
}

/// Everything that is wrong with the signature, in one error.
fn check(kernel: &ItemFn) -> Result<()> {
    let sig = &kernel.sig;
    let mut errors: Vec<Error> = Vec::new();
    let mut reject = |tokens: &dyn quote::ToTokens, message: &str| {
        errors.push(Error::new_spanned(tokens, message));
    };

    if !matches!(kernel.vis, Visibility::Public(_)) {
        reject(&sig.ident, "a kernel must be `pub`: it is an entry point of the GPU module");
    }
    if sig.unsafety.is_none() {
        reject(&sig.ident, "a kernel must be `unsafe`: nothing checks what the host passes to it");
    }
    if let Some(token) = &sig.asyncness {
        reject(token, "a kernel cannot be `async`");
    }
    if let Some(token) = &sig.constness {
        reject(token, "a kernel cannot be `const`");
    }
    if let Some(abi) = &sig.abi {
        reject(abi, "a kernel cannot have an ABI of its own: `#[kernel]` gives it one");
    }
    if let Some(token) = &sig.variadic {
        reject(token, "a kernel cannot be variadic");
    }
    if !sig.generics.params.is_empty() {
        reject(&sig.generics.params, "a kernel cannot be generic: an entry point has one name and one type");
    }
    if let Some(clause) = &sig.generics.where_clause {
        reject(clause, "a kernel cannot have a `where` clause");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        reject(ty, "a kernel returns nothing: write results through a pointer argument");
    }
    for argument in &sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                reject(receiver, "a kernel cannot be a method: make it a free function without `self`");
            }
            FnArg::Typed(typed) => {
                if !matches!(&*typed.pat, Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none())
                {
                    reject(&typed.pat, "a kernel's arguments must be plain names");
                }
                if matches!(&*typed.ty, Type::ImplTrait(_)) {
                    reject(&typed.ty, "a kernel cannot be generic: an entry point has one name and one type");
                }
            }
        }
    }
    errors
        .into_iter()
        .reduce(|mut all, error| {
            all.combine(error);
            all
        })
        .map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of the errors that a function provokes.
    fn errors(item: TokenStream) -> Vec<String> {
        match expand(TokenStream::new(), item) {
            Ok(_) => Vec::new(),
            Err(error) => error.into_iter().map(|e| e.to_string()).collect(),
        }
    }

    const NOT_GENERIC: &str = "a kernel cannot be generic: an entry point has one name and one type";
    const NOT_A_METHOD: &str = "a kernel cannot be a method: make it a free function without `self`";
    const NO_RETURN: &str = "a kernel returns nothing: write results through a pointer argument";
    const PLAIN_NAMES: &str = "a kernel's arguments must be plain names";

    #[test]
    fn each_mistake_has_its_message() {
        let cases: [(TokenStream, &str); 18] = [
            (
                quote!(
                    pub unsafe fn k(self) {}
                ),
                NOT_A_METHOD,
            ),
            (
                quote!(
                    pub unsafe fn k(&self, n: u32) {}
                ),
                NOT_A_METHOD,
            ),
            (
                quote!(
                    pub unsafe fn k(&mut self) {}
                ),
                NOT_A_METHOD,
            ),
            (
                quote!(
                    pub unsafe fn k(self: Box<Self>) {}
                ),
                NOT_A_METHOD,
            ),
            (
                quote!(
                    pub unsafe fn k() -> u32 {
                        0
                    }
                ),
                NO_RETURN,
            ),
            (
                quote!(
                    pub unsafe fn k() -> ! {
                        loop {}
                    }
                ),
                NO_RETURN,
            ),
            (
                quote!(
                    pub unsafe fn k<T>(x: *mut T) {}
                ),
                NOT_GENERIC,
            ),
            (
                quote!(
                    pub unsafe fn k<'a>(x: &'a u32) {}
                ),
                NOT_GENERIC,
            ),
            (
                quote!(
                    pub unsafe fn k<const N: usize>(x: [u32; N]) {}
                ),
                NOT_GENERIC,
            ),
            (
                quote!(
                    pub unsafe fn k(x: impl Copy) {}
                ),
                NOT_GENERIC,
            ),
            (
                quote!(
                    pub unsafe fn k()
                    where
                        u32: Copy,
                    {
                    }
                ),
                "a kernel cannot have a `where` clause",
            ),
            (
                quote!(
                    pub async unsafe fn k() {}
                ),
                "a kernel cannot be `async`",
            ),
            (
                quote!(
                    pub const unsafe fn k() {}
                ),
                "a kernel cannot be `const`",
            ),
            (
                quote!(
                    pub unsafe extern "C" fn k() {}
                ),
                "a kernel cannot have an ABI of its own: `#[kernel]` gives it one",
            ),
            (
                quote!(
                    pub unsafe fn k((a, b): (u32, u32)) {}
                ),
                PLAIN_NAMES,
            ),
            (
                quote!(
                    pub unsafe fn k(_: u32) {}
                ),
                PLAIN_NAMES,
            ),
            (
                quote!(
                    pub fn k() {}
                ),
                "a kernel must be `unsafe`: nothing checks what the host passes to it",
            ),
            (
                quote!(
                    unsafe fn k() {}
                ),
                "a kernel must be `pub`: it is an entry point of the GPU module",
            ),
        ];
        for (item, message) in cases {
            assert_eq!(errors(item.clone()), [message], "{item}");
        }
    }

    #[test]
    fn variadics_are_refused() {
        let messages = errors(quote!(
            pub unsafe extern "C" fn k(n: u32, ...) {}
        ));
        assert!(messages.contains(&"a kernel cannot be variadic".to_string()), "{messages:?}");
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let messages = errors(quote!(
            pub async fn k<T>(self, x: T) -> T {
                x
            }
        ));
        assert_eq!(
            messages,
            [
                "a kernel must be `unsafe`: nothing checks what the host passes to it",
                "a kernel cannot be `async`",
                NOT_GENERIC,
                NO_RETURN,
                NOT_A_METHOD,
            ]
        );
    }

    #[test]
    fn only_functions_and_no_arguments() {
        for item in [
            quote!(
                struct S;
            ),
            quote!(
                pub unsafe fn k();
            ),
            quote!(1 + 1),
        ] {
            assert_eq!(errors(item), ["`#[kernel]` goes on a function with a body"]);
        }
        let error = expand(
            quote!(128),
            quote!(
                pub unsafe fn k() {}
            ),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "`#[kernel]` takes no arguments");
    }

    #[test]
    fn a_kernel_becomes_an_entry_point_and_a_host_function() {
        let item = quote! {
            /// Documented.
            pub unsafe fn k(n: u32, mut out: *mut f32) { body(n, out) }
        };
        let text = expand(TokenStream::new(), item).unwrap().to_string();
        let entry = quote! {
            #[cfg(target_arch = "nvptx64")]
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn k(n: u32, mut out: *mut f32) { body(n, out) }
        };
        let host = quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            pub unsafe fn k(n: u32, mut out: *mut f32) { body(n, out) }
        };
        assert!(text.contains(&entry.to_string()), "{text}");
        assert!(text.contains(&host.to_string()), "{text}");
        assert_eq!(text.matches("Documented.").count(), 2, "{text}");
        for ty in ["u32", "* mut f32"] {
            assert!(text.contains(&format!("kernel_argument_must_be_copy :: < {ty} > ()")), "{text}");
        }
        assert!(text.contains("(_ : u32 , _ : * mut f32)"), "{text}");
    }
}
