/** The demands that can be made on an agent's card. */
export const cardDemands = ["unsigned", "signed-if-present", "must-be-signed"] as const;

/** One of them. */
export type CardDemand = (typeof cardDemands)[number];
