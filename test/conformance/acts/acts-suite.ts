import { dirname, join } from "node:path";

/** One step of a test: an operation or a raw HTTP request, and what is expected of the answer. */
export type ActsStep = {
  readonly id: string;
  readonly operation?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly raw?: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly body_raw?: string;
  };
  readonly client_response?: unknown;
  readonly expect?: Readonly<Record<string, unknown>>;
  readonly expect_error?: { readonly error_type?: unknown; readonly code?: unknown; readonly message?: unknown };
  readonly expect_stream?: ActsStream;
  readonly capture?: Readonly<Record<string, string>>;
  readonly repeat?: { readonly until: string; readonly max_attempts?: number; readonly delay_ms?: number };
};

/** What is expected of the events of a stream. */
export type ActsStream = {
  readonly min_count?: number;
  readonly max_count?: number;
  readonly ordering?: "monotonic_state";
  readonly events?: readonly Readonly<Record<string, unknown>>[];
  readonly final_event?: unknown;
  readonly each_event?: unknown;
};

/** One test. */
export type ActsTest = {
  readonly id: string;
  readonly level: "must" | "should" | "may";
  readonly transport?: readonly string[];
  readonly preconditions?: { readonly capabilities?: Readonly<Record<string, boolean>> };
  readonly steps: readonly ActsStep[];
};

type Document = {
  readonly include?: readonly string[];
  readonly suites?: readonly { readonly tests?: readonly ActsTest[] }[];
};

/** The tests of a suite's file and of those that it includes. */
export async function loadSuite(path: string): Promise<readonly ActsTest[]> {
  const { include = [], suites = [] } = Bun.YAML.parse(await Bun.file(path).text()) as Document;
  const included = await Promise.all(include.map((file) => loadSuite(join(dirname(path), file))));
  return [...suites.flatMap(({ tests = [] }) => tests), ...included.flat()];
}
