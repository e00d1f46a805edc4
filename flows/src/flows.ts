import type { FlowDefinition } from "manyhands/flows";
import { conditional } from "./conditional/conditional.ts";
import { debate } from "./debate/debate.ts";
import { loop } from "./loop/loop.ts";
import { parallel } from "./parallel/parallel.ts";
import { planning } from "./planning/planning.ts";
import { sequential } from "./sequential.ts";

/** All built-in flows. */
export const flows: readonly FlowDefinition[] = [planning, sequential, parallel, conditional, loop, debate];
