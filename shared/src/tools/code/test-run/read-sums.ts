import { failureLine } from "./report-forms.ts";
import type { TestReport } from "./tap.ts";

/** A longer line is not a sum. */
const longest = 200;
/** What a number counts, by the word beside it. */
const words = {
  all: /^(?:tests?|checks?|examples?|specs?|cases?|scenarios?|runs?|total)$/,
  assertions: /^assertions?$/,
  passed: /^(?:pass|passed|passing|passes|ok|success|successes|succeeded|successful)$/,
  failed: /^(?:fail|failed|failing|failures?|errors?|errored|broken)$/,
  skipped: /^(?:skip|skipped|skips|pending|ignored|todo|disabled|excluded)$/,
};
type Counts = Partial<Record<keyof typeof words, number>>;

const numberFirst = /(\d+) +(?:(?:tests?|checks?|cases?|specs?|examples?) +)?([a-z]+)/gi;
const wordFirst = /([a-z]+) *[:=] *(\d+)\b/gi;
const nounsOnly = /(\d+) +(tests?|checks?|cases?|specs?|examples?)\b/gi;
const share = /\b(\d+) ?(?:\/|of) ?(\d+) +(?:(?:tests?|checks?|cases?|specs?|examples?) +)?(?:passed|ok)\b/i;
const allPassed = /^(?:OK,? \(|OK: |All )(\d+) +(?:tests?|checks?|specs?|examples?)\b(?!.*\bfail)/i;
const inCases = /^All tests passed \(.* in (\d+) test cases?\)/i;
/** Names the sum of sums. */
const whole = /\b(?:total|all|overall|summary|altogether)\b/i;

/**
 * Reads the sums that other runners and scripts of a project's own write in a line, as `6 checks, 1
 * failed`, `5 examples, 0 failures` and `Tests: 5, Failures: 1`. Where the last line sums up those
 * before, it alone counts.
 */
export function readSums(lines: readonly string[]): TestReport | undefined {
  const sums = lines.flatMap((line) => {
    const sum = line.length > longest ? undefined : sumOf(line);
    return sum === undefined ? [] : [{ ...sum, line }];
  });
  const last = sums.at(-1);
  if (last === undefined) return undefined;
  const before = added(sums.slice(0, -1));
  const isWhole = before.passed === last.passed && before.failed === last.failed;
  const { passed, failed } =
    sums.length > 1 && (whole.test(last.line) || (isWhole && sums.length > 2)) ? last : added(sums);
  const failures = lines.flatMap((line) => failureLine.exec(line)?.[1] ?? []);
  return { passed, failed, failures: failed === 0 ? [] : [...new Set(failures)] };
}

type Sum = { readonly passed: number; readonly failed: number };

function added(sums: readonly Sum[]): Sum {
  const of = (key: keyof Sum) => sums.reduce((total, sum) => total + sum[key], 0);
  return { passed: of("passed"), failed: of("failed") };
}

function sumOf(line: string): Sum | undefined {
  const [, good, most] = share.exec(line) ?? [];
  if (most !== undefined) return { passed: Number(good), failed: Math.max(0, Number(most) - Number(good)) };
  const every = allPassed.exec(line.trim())?.[1] ?? inCases.exec(line.trim())?.[1];
  if (every !== undefined) return { passed: Number(every), failed: 0 };
  const named = countsOf([...line.matchAll(wordFirst)].map(([, word, number]) => [word, number]));
  const numbered = countsOf([...line.matchAll(numberFirst)].map(([, number, word]) => [word, number]));
  const nouns = countsOf([...line.matchAll(nounsOnly)].map(([, number, word]) => [word, number]));
  return asSum(named) ?? asSum({ ...nouns, ...numbered });
}

/** The sum that counts make: what failed, beside what passed or how many there were. */
function asSum({ all, assertions, passed, failed, skipped = 0 }: Counts): Sum | undefined {
  if (passed !== undefined && failed !== undefined) return { passed, failed };
  const total = all ?? assertions;
  if (total === undefined || (passed ?? failed) === undefined) return undefined;
  const [right, wrong] = [passed ?? total - (failed ?? 0) - skipped, failed ?? total - (passed ?? 0) - skipped];
  return right < 0 || wrong < 0 ? undefined : { passed: right, failed: wrong };
}

function countsOf(pairs: readonly (readonly [word: string | undefined, number: string | undefined])[]): Counts {
  const counts: Counts = {};
  // Failures and errors are counted apart by some.
  for (const [word = "", number = ""] of pairs)
    for (const kind of Object.keys(words) as (keyof typeof words)[])
      if (words[kind].test(word.toLowerCase()))
        counts[kind] = (kind === "failed" ? (counts[kind] ?? 0) : 0) + Number(number);
  return counts;
}
