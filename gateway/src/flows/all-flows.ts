import type { FlowDefinition } from "@manyhands/flows/flow";
import { planning } from "@manyhands/flows/planning/planning";
import { sequential } from "@manyhands/flows/sequential";

/** The flows of this gateway, in the order they are shown. */
export const allFlows: readonly FlowDefinition[] = [planning, sequential];
