/** What a process, or the machine, can run out of for a while. */
const shortage =
  /\b(?:EMFILE|ENFILE|EAGAIN|ENOMEM)\b|Too many open files|Resource temporarily unavailable|Cannot allocate memory|out of memory/i;

/**
 * Whether something failed for want of open files, processes or memory, by what the system says:
 * that tells nothing of what the machine has or can do.
 */
export function isShortage(failure: unknown): boolean {
  return shortage.test(failure instanceof Error ? failure.message : String(failure));
}
