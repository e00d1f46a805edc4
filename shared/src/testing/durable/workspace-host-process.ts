import { openHost } from "./workspace-host.ts";

// A machine of a test that can be killed: the database's URL, the home, the bucket's endpoint.
const [url = "", home = "", endpoint = ""] = process.argv.slice(2);
openHost({ url, home, endpoint }).work();
