// Requests to the desk's server.
/** Milliseconds after which a request has failed: a server that hangs shall not hold the page. */
const PATIENCE = 120_000;
const ROOT = "/desk/api";

export const eventsOf = (story: string) => `${ROOT}/stories/${story}/events`;
export const exportOf = (story: string, format: string, quotes: boolean) => `${ROOT}/stories/${story}/export?format=${format}&quotes=${quotes}`;

export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const SILENT = "The desk does not answer: is its program still running? Nothing that was written or typed is lost; ask for it again when it answers.";
const silent = () => new Refused(SILENT, 0);

async function answer<T>(asked: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await asked;
  } catch {
    throw silent();
  }
  const body: unknown = await response.json().catch(() => {
    // A desk that was killed while it answered: half an answer is none.
    if (response.ok) throw silent();
    return {};
  });
  if (!response.ok) throw new Refused((body as { error?: string }).error ?? `The desk failed (${response.status}).`, response.status);
  return body as T;
}

export const get = <T>(path: string, query: Record<string, string> = {}) => {
  const words = new URLSearchParams(query).toString();
  return answer<T>(fetch(`${ROOT}${path}${words ? `?${words}` : ""}`, { signal: AbortSignal.timeout(PATIENCE) }));
};

export const send = <T = unknown>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown) =>
  answer<T>(
    fetch(`${ROOT}${path}`, {
      method,
      signal: AbortSignal.timeout(PATIENCE),
      ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    }),
  );

export const upload = <T>(path: string, file: File, more: Record<string, string> = {}) => {
  const form = new FormData();
  form.append("file", file);
  for (const [name, value] of Object.entries(more)) form.append(name, value);
  return answer<T>(fetch(`${ROOT}${path}`, { method: "POST", body: form }));
};
