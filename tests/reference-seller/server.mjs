// The reference x402 seller on loopback: real middleware, real facilitator code, a chain in memory.
//
// Prints {"url": "..."} once it listens, and ends when its stdin closes.

import { x402Facilitator } from "@x402/core/facilitator";
import { decodePaymentSignatureHeader } from "@x402/core/http";
import { ExactEvmScheme as ExactFacilitator } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme as ExactServer } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import {
  PAYMENT_IDENTIFIER,
  declarePaymentIdentifierExtension,
  extractPaymentIdentifier,
  paymentIdentifierResourceServerExtension,
} from "@x402/extensions/payment-identifier";
import express from "express";

import { Chain, NETWORK, TOKEN_NAME, TOKEN_VERSION, USDC } from "./chain.mjs";

const PAY_TO = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
const PRICE = "10000"; // 0.01 USDC
const MAX_TIMEOUT_SECONDS = 60;
const FLOWS = ["authorization", "upfront"];
// What the handler answers: first, and from its second run on.
const BEHAVIOURS = {
  200: [200, 200],
  429: [429, 429],
  500: [500, 500],
  "429-then-200": [429, 200],
  "500-then-200": [500, 200],
};

let book = freshBook();

/** All that a test may ask about; replaced whole by a reset. */
function freshBook() {
  const chain = new Chain();
  const facilitator = new x402Facilitator();
  facilitator.register(NETWORK, new ExactFacilitator(chain.signer()));
  return { chain, facilitator, verifies: 0, settles: 0, requests: [], handlerRuns: {}, refused: new Set() };
}

/** Hands the middleware's questions to the facilitator of the book that is open. */
const facilitatorClient = {
  verify: async (payload, requirements) => {
    book.verifies += 1;
    return overTheWire(await book.facilitator.verify(payload, requirements));
  },
  settle: async (payload, requirements) => {
    book.settles += 1;
    return overTheWire(await book.facilitator.settle(payload, requirements));
  },
  getSupported: async () => overTheWire(book.facilitator.getSupported()),
};

/** What a facilitator behind HTTP would have answered: JSON, without undefined fields. */
function overTheWire(answer) {
  return JSON.parse(JSON.stringify(answer));
}

/** Every paid path with its flow, its behaviour and whether it asks for a payment identifier. */
function routes() {
  return FLOWS.flatMap((flow) =>
    Object.keys(BEHAVIOURS).flatMap((behaviour) => [
      { path: `/${flow}/${behaviour}`, flow, behaviour, identified: false },
      { path: `/${flow}/${behaviour}/identified`, flow, behaviour, identified: true },
    ]),
  );
}

function routeConfig({ flow, identified }) {
  return {
    accepts: {
      scheme: "exact",
      network: NETWORK,
      payTo: PAY_TO,
      price: { amount: PRICE, asset: USDC, extra: { name: TOKEN_NAME, version: TOKEN_VERSION } },
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      ...(flow === "authorization" ? {} : { extra: { paymentFlow: flow } }),
    },
    description: "What the reference seller sells",
    mimeType: "application/json",
    ...(identified
      ? { extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(true) } }
      : {}),
  };
}

/** Writes down each request, and its status before a byte of the answer leaves. */
function record(request, response, next) {
  const { paid, nonce, paymentId } = readPayment(request);
  const entry = { method: request.method, path: request.path, paid, nonce, paymentId, status: null };
  book.requests.push(entry);
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status, ...rest) => {
    entry.status = status;
    return writeHead(status, ...rest);
  };
  next();
}

function readPayment(request) {
  const header = request.header("payment-signature");
  if (header === undefined) {
    return { paid: request.header("x-payment") !== undefined, nonce: null, paymentId: null };
  }
  try {
    const payload = decodePaymentSignatureHeader(header);
    return {
      paid: true,
      nonce: payload.payload?.authorization?.nonce?.toLowerCase() ?? null,
      paymentId: extractPaymentIdentifier(payload),
    };
  } catch {
    return { paid: true, nonce: null, paymentId: null };
  }
}

/** Answers as the route says; "first" counts by the X-Test-Id header, or for all requests without one. */
function handle({ path, behaviour }) {
  const [first, later] = BEHAVIOURS[behaviour];
  return (request, response) => {
    book.handlerRuns[path] = (book.handlerRuns[path] ?? 0) + 1;
    const run = `${path} ${request.header("x-test-id") ?? ""}`;
    const status = book.refused.has(run) ? later : first;
    book.refused.add(run);
    if (status === 429) response.set("Retry-After", "1");
    response.status(status).json(status === 200 ? { sold: path } : { error: `status ${status}` });
  };
}

function ledger(_request, response) {
  const { chain, verifies, settles, requests, handlerRuns } = book;
  response.json({ settlements: chain.settlements, verifies, settles, requests, handlerRuns });
}

function reset(_request, response) {
  book = freshBook();
  response.status(204).end();
}

function app() {
  const paid = routes();
  const server = new x402ResourceServer(facilitatorClient)
    .register(NETWORK, new ExactServer())
    .registerExtension(paymentIdentifierResourceServerExtension);
  const app = express();
  app.disable("x-powered-by");
  app.get("/ledger", ledger);
  app.post("/reset", reset);
  app.use(record);
  app.use(paymentMiddleware(Object.fromEntries(paid.map((route) => [route.path, routeConfig(route)])), server));
  for (const route of paid) app.all(route.path, handle(route));
  return app;
}

process.stdin.on("close", () => process.exit(0)).on("end", () => process.exit(0)).resume();

const listener = app().listen(0, "127.0.0.1", (error) => {
  if (error) throw error;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${listener.address().port}` }));
});
