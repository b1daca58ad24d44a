//! Compiling a plan to native code, and calling it.

use std::collections::HashMap;
use std::sync::OnceLock;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::Context as Compiler;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use memmap2::{Mmap, MmapMut};
use thiserror::Error;

use super::emit::{emit, HelperSignatures, Known};
use super::exit::Exit;
use super::idle::heads;
use super::plan::Plan;
use super::returns::returns;
use crate::machine::Machine;
use crate::waiting::WaitTable;

/// Why there is no native code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TranslatorError {
    /// The code generator does not know this processor.
    #[error("no native code for this processor: {reason}")]
    UnsupportedProcessor {
        /// What the code generator says.
        reason: String,
    },
    /// The operating system gives no memory for code.
    #[error("the operating system refuses executable memory: {reason}")]
    NoExecutableMemory {
        /// The operating system's error.
        reason: String,
    },
    /// The code generator failed.
    #[error("native code could not be generated: {reason}")]
    Codegen {
        /// What the code generator says.
        reason: String,
    },
}

/// How much care is taken of native code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// Made in half of the time, a quarter to a half slower.
    Quick,
    /// For what has proved to run often.
    Good,
}

/// The code generator for this processor.
fn target(tier: Tier) -> Result<OwnedTargetIsa, TranslatorError> {
    let unsupported = |reason: String| TranslatorError::UnsupportedProcessor { reason };
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "none"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
        ("unwind_info", "false"),
        ("enable_probestack", "false"),
        ("enable_pinned_reg", "true"),
        (
            "regalloc_algorithm",
            match tier {
                Tier::Quick => "single_pass",
                Tier::Good => "backtracking",
            },
        ),
    ] {
        flags
            .set(name, value)
            .map_err(|error| unsupported(error.to_string()))?;
    }
    cranelift_native::builder()
        .map_err(|reason| unsupported(reason.to_owned()))?
        .finish(settings::Flags::new(flags))
        .map_err(|error| unsupported(error.to_string()))
}

/// Whether native code can be made and run here.
///
/// # Errors
/// [`TranslatorError`] says why not.
pub fn translator_available() -> Result<(), TranslatorError> {
    static AVAILABLE: OnceLock<Result<(), TranslatorError>> = OnceLock::new();
    AVAILABLE
        .get_or_init(|| {
            target(Tier::Quick)?;
            NativeFunction::map(&[0], Tier::Quick, 0).map(drop)
        })
        .clone()
}

/// A compiled function. Its pages are executable and never writable again; they
/// are unmapped when the last user is gone.
#[derive(Debug)]
pub(super) struct NativeFunction {
    code: Mmap,
    tier: Tier,
    /// Guest instructions translated.
    instructions: usize,
}

impl NativeFunction {
    pub(super) fn compile(
        plan: &Plan,
        image: &[u8],
        waits: &WaitTable,
        tier: Tier,
    ) -> Result<Self, TranslatorError> {
        let codegen = |reason: String| TranslatorError::Codegen { reason };
        let isa = target(tier)?;
        let call_conv = isa.default_call_conv();
        let signature = |parameters: &[_], result| {
            let mut signature = Signature::new(call_conv);
            signature
                .params
                .extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
            signature.returns.push(AbiParam::new(result));
            signature
        };
        let mut function =
            Function::with_name_signature(UserFuncName::default(), signature(&[I64], I64));
        let signatures = HelperSignatures {
            read: function.import_signature(signature(&[I64, I32, I32], I32)),
            write: function.import_signature(signature(&[I64, I32, I32, I32], I32)),
        };
        let mut builder_context = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut function, &mut builder_context);
        let (returns, heads) = match tier {
            Tier::Quick => (HashMap::new(), HashMap::new()),
            Tier::Good => (returns(plan), heads(plan, waits)),
        };
        let known = Known {
            image,
            waits,
            returns,
            heads,
            is_good: tier == Tier::Good,
        };
        emit(builder, signatures, plan, known).finalize(isa.frontend_config());
        let mut compiler = Compiler::for_function(function);
        let compiled = compiler
            .compile(isa.as_ref(), &mut Default::default())
            .map_err(|error| codegen(format!("{:?}", error.inner)))?;
        if !compiled.buffer.relocs().is_empty() {
            return Err(codegen("the code is not self-contained".to_owned()));
        }
        Self::map(compiled.code_buffer(), tier, plan.instructions())
    }

    pub(super) fn instructions(&self) -> usize {
        self.instructions
    }

    pub(super) fn is_quick(&self) -> bool {
        self.tier == Tier::Quick
    }

    fn map(bytes: &[u8], tier: Tier, instructions: usize) -> Result<Self, TranslatorError> {
        let refused = |error: std::io::Error| TranslatorError::NoExecutableMemory {
            reason: error.to_string(),
        };
        let mut memory = MmapMut::map_anon(bytes.len().max(1)).map_err(refused)?;
        memory[..bytes.len()].copy_from_slice(bytes);
        let code = memory.make_exec().map_err(refused)?;
        #[cfg(target_arch = "aarch64")]
        #[expect(unsafe_code, reason = "caches are not coherent on this processor")]
        {
            use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};
            // SAFETY: the range is the mapping that was just made.
            unsafe { clear_cache(code.as_ptr().cast(), code.len()) }
                .and_then(|()| pipeline_flush_mt())
                .map_err(|error| TranslatorError::NoExecutableMemory {
                    reason: error.to_string(),
                })?;
        }
        Ok(Self {
            code,
            tier,
            instructions,
        })
    }

    /// Runs from the machine's PC on. `Context::enter` has been called, and
    /// `Context::finish` follows.
    #[inline]
    #[expect(unsafe_code, reason = "machine code can be called in no other way")]
    pub(super) fn call(&self, machine: &mut Machine) -> Exit {
        // SAFETY: the mapping holds a function of exactly this type, generated
        // by `emit`. It reads and writes
        // * fields of the machine at offsets that the compiler gave (`layout`),
        // * bytes and pairs of bytes of WRAM, HRAM and VRAM whose index was masked or
        //   compared first, or which a page table of `Context` covers wholly,
        // and otherwise calls the helpers of `context`. No guest value is ever
        // used as an address, an index beyond that, or a jump target: guest
        // jumps compare PC with the blocks that exist. The machine is borrowed
        // exclusively here, and nothing else touches it until the call returns.
        let result = unsafe {
            let function: unsafe extern "C" fn(*mut Machine) -> i64 =
                std::mem::transmute(self.code.as_ptr());
            function(machine)
        };
        Exit::decode(result)
    }
}
