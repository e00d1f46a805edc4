import type * as z from "zod";
import { onInput } from "./tool-input.ts";

/**
 * What calls of a tool reach outside, judged by their input. The server checks it before each call,
 * so that nothing a task knows leaks to a place the user did not name. A tool that leaves it out
 * reaches nothing.
 */
export type Reach<Input = unknown> = {
  /** The addresses that a call opens. `named`: every address anywhere in its input. */
  readonly opens?: "named" | ((input: Input) => readonly string[]);
  /** What a call sends to search engines. */
  readonly asks?: (input: Input) => string;
  /** What a call writes to a place where an address in it may come back as a link. */
  readonly writes?: (input: Input) => string;
  /** Whether addresses in its results may then be opened, as with pages and search results. */
  readonly finds?: boolean;
  /** Whether pages read elsewhere may have influenced its results. */
  readonly reads?: boolean;
  /**
   * Whether content the user sent may prompt such a call, so that no call counts as the agent's own
   * choice, even before anything was read.
   */
  readonly led?: boolean;
  /** Addresses that may be opened as long as the task knows nothing private. */
  readonly free?: (url: string) => boolean;
};

/**
 * Extends a reach over parsed inputs to any input. Input that does not fit the schema reaches
 * nothing, since no call is made with it.
 */
export function reachOfAny<Input extends z.ZodObject>(
  name: string,
  schema: Input,
  { opens, asks, writes, ...rest }: Reach<z.output<Input>>,
): Reach {
  return {
    ...rest,
    ...(opens && { opens: opens === "named" ? opens : onInput(name, schema, opens, []) }),
    ...(asks && { asks: onInput(name, schema, asks, "") }),
    ...(writes && { writes: onInput(name, schema, writes, "") }),
  };
}
