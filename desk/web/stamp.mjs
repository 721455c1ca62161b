// Write down which sources the built page was made from; tests/desk/test_bundle.py compares.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sha = (data) => createHash("sha256").update(data).digest("hex");

function files(folder, inside = "") {
  return readdirSync(join(folder, inside), { withFileTypes: true }).flatMap((entry) => {
    const path = inside ? `${inside}/${entry.name}` : entry.name;
    // It may be a link.
    if (entry.name === "node_modules") return [];
    return entry.isDirectory() ? files(folder, path) : [path];
  });
}

function digest(folder) {
  const named = files(folder).filter((path) => path !== "stamp.json" && !path.split("/").pop().startsWith("."));
  const lines = named.sort().map((path) => `${sha(readFileSync(join(folder, path)))}  ${path}\n`);
  return sha(lines.join(""));
}

const built = join(import.meta.dirname, "../static");
const stamp = { sources: digest(import.meta.dirname), built: digest(built) };
writeFileSync(join(built, "stamp.json"), `${JSON.stringify(stamp, null, 2)}\n`);
