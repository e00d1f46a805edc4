/**
 * Preloaded by `test/run-all.ts`: most of what tests run is run a few times, so code is compiled to
 * machine code only if it runs eight times as often as usual. That is a thirteenth of the processor
 * time of the tests themselves. Programs of ours that they start have been compiled, where a whole
 * run is worth it.
 */
Bun.unsafe.setJITPolicy(8);
process.execPath = process.env.COMPILED_BUN ?? process.execPath;
delete process.env.COMPILED_BUN;
