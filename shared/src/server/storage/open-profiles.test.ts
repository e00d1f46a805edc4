import { expect, spyOn, test } from "bun:test";
import type { KeptTexts } from "../../core/text/kept-text.ts";
import { ownIdentity } from "../../durable/sqlite/process-identity.ts";
import * as stores from "../../machine/browser-profile/profile-store.ts";
import { openProfiles } from "./open-profiles.ts";

/** No process has this id: the kernel gives none above 4,194,304. */
const noProcess = 5_000_000;

test("a profile is held by this process, and free at once where its holder was killed on this machine, and only there", () => {
  const texts = {} as KeptTexts;
  using opening = spyOn(stores, "createProfileStore");
  openProfiles(texts);
  const [given, holders] = opening.mock.calls[0] ?? [];
  const own = ownIdentity();
  expect([given, holders?.own]).toEqual([texts, own]);
  const killed = { ...own, pid: noProcess };
  const gone = [own, killed, { ...killed, host: "another machine" }].map((other) => holders?.isGone(other));
  expect(gone).toEqual([false, true, false]);
});
