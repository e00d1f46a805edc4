import { AgentCard } from "@a2a-js/sdk";
import type { CardPolicy } from "../../a2a/signing/card-policy.ts";

/** A card with one skill. */
export function cardOf(name: string, url: string): AgentCard {
  return AgentCard.fromJSON({
    name,
    description: `${name}, for tests.`,
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "greet", name: "Greet", description: "Says hello.", tags: ["greeting"] }],
  });
}

/** Accepts every card. */
export const anyCard: CardPolicy = async () => undefined;
