import type { Script } from "../script.ts";
import { analyseOrders } from "./analyse-orders.ts";
import { fixShipping } from "./fix-shipping.ts";
import { makeRegistration } from "./make-registration.ts";
import { answerMonthEnd, planMonthEnd } from "./plan-month-end.ts";
import { writeMonthEnd } from "./write-month-end.ts";

/** The scripts of the demo: the planner's, each agent's, the checks and the answer at the end. */
export const monthEnd: readonly Script[] = [
  planMonthEnd,
  analyseOrders,
  fixShipping,
  makeRegistration,
  writeMonthEnd,
  answerMonthEnd,
];
