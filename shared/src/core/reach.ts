import type * as z from "zod";
import { onInput } from "./tool-input.ts";

/**
 * What calls of a tool reach outside, as their input tells: a server judges it before a call is
 * made, so that nothing a task knows is carried to a place that the user did not name. A tool that
 * leaves it out reaches nothing.
 */
export type Reach<Input = unknown> = {
  /** The addresses that a call opens. `named`: all that stand anywhere in its input. */
  readonly opens?: "named" | ((input: Input) => readonly string[]);
  /** What a call asks search engines. */
  readonly asks?: (input: Input) => string;
  /** What a call writes where an address in it may come back as a link. */
  readonly writes?: (input: Input) => string;
  /** Whether its results give addresses that may be opened then, as pages and search results do. */
  readonly finds?: boolean;
  /** Whether what comes back may be led by pages that were read elsewhere. */
  readonly reads?: boolean;
  /**
   * Whether what the user sent may lead to such a call, so that none is the agent's own choice,
   * even before anything was read.
   */
  readonly led?: boolean;
  /** Addresses that may be opened as long as nothing is known that not everybody may. */
  readonly free?: (url: string) => boolean;
};

/**
 * A reach over inputs as its schema lets them through, for any input. One that does not fit reaches
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
