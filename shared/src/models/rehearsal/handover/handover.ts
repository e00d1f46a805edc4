import type { Script } from "../script.ts";
import { analyseOrders } from "./analyse-orders.ts";
import { checkHandover } from "./check-handover.ts";
import { makeRegistration } from "./make-registration.ts";
import { mendShipping } from "./mend-shipping.ts";
import { answerHandover, judgeHandover, planHandover } from "./plan-handover.ts";
import { writeHandover } from "./write-handover.ts";

/** The scripts of the demo: the planner's, each agent's, the checks of the steps, the answer. */
export const handover: readonly Script[] = [
  planHandover,
  analyseOrders,
  mendShipping,
  makeRegistration,
  writeHandover,
  ...checkHandover,
  judgeHandover,
  answerHandover,
];
