/** The call by which an agent asks the person it works for; its results are that person's own words. */
export const askHumanName = "ask_human";

/** The call by which an agent ends its task. */
export const terminateName = "terminate";
