/** Google's ADK for JavaScript: its RemoteA2AAgent, and an agent of its own behind toA2a. */
import { freePort } from "manyhands/internal/http/free-port";
import { load, type PeerPackage, run } from "./peer-script.ts";

const adk = await load("@google/adk");
const { RemoteA2AAgent, toA2a } = await load("@google/adk/a2a");

async function client(url: string) {
  const agent = new RemoteA2AAgent({ name: "remote", agentCard: url });
  const runner = new adk.InMemoryRunner({ agent, appName: "interop" });
  const { id } = await runner.sessionService.createSession({ appName: "interop", userId: "person" });
  return async (text: string) => {
    const newMessage = { role: "user", parts: [{ text }] };
    let heard = "";
    for await (const event of runner.runAsync({ userId: "person", sessionId: id, newMessage })) {
      if (event.errorMessage) throw new Error(event.errorMessage);
      for (const part of event.content?.parts ?? []) if (part.text && !part.thought) heard = part.text;
    }
    return heard;
  };
}

const BaseAgent: new (about: object) => object = adk.BaseAgent;

class Echo extends BaseAgent {
  async *runAsyncImpl(context: PeerPackage) {
    const said = context.userContent.parts.map((part: PeerPackage) => part.text ?? "").join(" ");
    const content = { role: "model", parts: [{ text: `Echo: ${said}` }] };
    yield adk.createEvent({ author: "google_adk_js", invocationId: context.invocationId, content });
  }
}

async function server() {
  const port = freePort();
  const agent = new Echo({ name: "google_adk_js", description: "Echoes." });
  const app = await toA2a(agent, { host: "127.0.0.1", port, allowUnauthenticated: true });
  return new Promise<string>((resolve) => {
    app.listen(port, "127.0.0.1", () => resolve(`http://127.0.0.1:${port}`));
  });
}

await run(client, server);
