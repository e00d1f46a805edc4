/**
 * The subset of curl that the guides' examples use, for machines without it: `-s`, `-N`, `-H`,
 * `-X`, `-d`, several URLs.
 */
const headers = new Headers({ "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "curl" });
const urls: string[] = [];
let body: string | undefined;
let method: string | undefined;
const args = process.argv.slice(2);
for (let word = args.shift(); word !== undefined; word = args.shift()) {
  if (word === "-H") {
    const [name = "", ...value] = (args.shift() ?? "").split(":");
    headers.set(name, value.join(":").trim());
  } else if (word === "-X") method = args.shift();
  else if (word === "-d") body = args.shift() ?? "";
  else if (!word.startsWith("-")) urls.push(`http://${word}`);
}
for (const url of urls) {
  const response = await fetch(url, {
    headers,
    ...(method !== undefined && { method }),
    ...(body !== undefined && { method: "POST", body }),
  });
  process.stdout.write(await response.text());
}

export {};
