import type { FlowDefinition } from "@manyhands/flows/flow";
import { sequential } from "@manyhands/flows/sequential";

/** The flows of this gateway, in the order they are shown. */
export const allFlows: readonly FlowDefinition[] = [sequential];
