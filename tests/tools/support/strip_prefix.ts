import { type IncomingMessage, request, type RequestListener } from "node:http";

/**
 * Makes a proxy that serves what listens elsewhere below a prefix, and tells it nothing about that.
 *
 * @param prefix Such as `"/shop"`.
 * @param url Where to hand requests on to, without a trailing slash.
 */
export function stripPrefix(prefix: string, url: string): RequestListener {
  return (req, res) => {
    const { url: path = "", method, headers } = req;
    if (!path.startsWith(`${prefix}/`)) return void res.writeHead(404).end();
    const upstream = request(url + path.slice(prefix.length), {
      method,
      headers: { ...headers, host: new URL(url).host },
    }, (answer: IncomingMessage) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    upstream.on("error", () => res.destroy());
    req.pipe(upstream);
  };
}
