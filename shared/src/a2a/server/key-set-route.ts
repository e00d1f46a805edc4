import { Hono } from "hono";
import type { HomeKeys } from "../signing/home-keys.ts";
import { keySetPath } from "../signing/public-key.ts";

/** Publishes the public keys with which this server signs, as a JWK set. */
export function keySetApp(keys: HomeKeys): Hono {
  const app = new Hono();
  app.get(keySetPath, async (c) => {
    const ring = await keys.ring();
    const headers = { "Cache-Control": "public, max-age=300" };
    return c.json({ keys: ring.map(({ publicKey }) => publicKey) }, 200, headers);
  });
  return app;
}
