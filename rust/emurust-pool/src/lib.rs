//! Many machines: threads, worker processes and the shared memory layout.
