import { expect, test } from "bun:test";
import type { CardDemand } from "../../a2a/signing/card-demand.ts";
import { sectionsSchema } from "../sections/sections.ts";
import { cardConfig } from "./card-config.ts";

type Keys = { readonly card_policy?: CardDemand; readonly card_keys?: string };

test.each<[own: Keys, all: { readonly policy?: CardDemand; readonly keys?: string }, CardDemand, string | undefined]>([
  [{}, {}, "unsigned", undefined],
  [{}, { policy: "signed-if-present" }, "signed-if-present", undefined],
  [{}, { keys: "all.json" }, "must-be-signed", "/home/all.json"],
  [{}, { policy: "signed-if-present", keys: "all.json" }, "signed-if-present", "/home/all.json"],
  [{ card_keys: "own.json" }, { policy: "unsigned" }, "must-be-signed", "/home/own.json"],
  [{ card_keys: "own.json" }, { keys: "all.json" }, "must-be-signed", "/home/own.json"],
  [{ card_keys: "own.json", card_policy: "signed-if-present" }, {}, "signed-if-present", "/home/own.json"],
  [{ card_policy: "unsigned" }, { policy: "must-be-signed", keys: "all.json" }, "unsigned", "/home/all.json"],
])("with %j over %j a card is %s", (own, { policy, keys: all }, demand, keys) => {
  const sections = sectionsSchema.parse({ a2a: { card_policy: policy }, gateway: { card_keys: all } });
  expect(cardConfig(own, sections, "/home")).toEqual({ demand, keys: keys as string });
});
