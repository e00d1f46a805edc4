/**
 * Preloaded by `test/run-all.ts`: most of what tests run is run a few times, so code is compiled to
 * machine code only if it runs eight times as often as usual. That is a thirteenth of the processor
 * time of the tests themselves.
 */
Bun.unsafe.setJITPolicy(8);
