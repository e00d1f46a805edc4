import { traitsOf } from "../models/capabilities.ts";
import type { ModelConfig } from "../models/config.ts";

/**
 * How many of its tool families an agent offers its model: all; those it can work without left out;
 * or only what reads, writes and computes.
 */
export const toolProfiles = ["full", "small", "smallest"] as const;

/** One of them. */
export type ToolProfile = (typeof toolProfiles)[number];

/** Windows below these, in tokens, get the smaller profiles. */
const smallBelow = 16_000;
const smallestBelow = 8_000;

/**
 * The profile for a model's window; without a model the rehearsal model works, which has a large
 * one.
 */
export function profileFor(model: ModelConfig | undefined): ToolProfile {
  if (model === undefined) return "full";
  const { contextWindow } = traitsOf(model);
  if (contextWindow < smallestBelow) return "smallest";
  return contextWindow < smallBelow ? "small" : "full";
}

const dropped: Readonly<Record<ToolProfile, readonly string[]>> = {
  full: [],
  small: ["browser", "desktop", "delegate"],
  smallest: ["browser", "desktop", "delegate", "web", "planning"],
};

/** The families that a profile leaves out of an agent's own, apart from what the agent is for. */
export function leftOut(profile: ToolProfile): ReadonlySet<string> {
  return new Set(dropped[profile]);
}
