// Buys from the reference seller with the official client and checks what its ledger says.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { appendPaymentIdentifierToExtensions } from "@x402/extensions/payment-identifier";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

// A published test key: it holds nothing on any chain.
const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const NONCE_USED = "invalid_exact_evm_nonce_already_used";
const PAYMENT_ID = "pay_0123456789abcdef0123456789abcdef";

const table = [];

async function main() {
  const seller = spawn(process.execPath, [fileURLToPath(new URL("server.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: seller.stdout }), "line");
  const { url } = JSON.parse(line);
  try {
    for (const flow of ["authorization", "upfront"]) {
      for (const suffix of ["", "/identified"]) await buysEachRouteOnce(url, flow, suffix);
      await servesTheSecondShowing(url, flow, 429);
      await servesTheSecondShowing(url, flow, 500);
      await refusesARepeatOfWhatIsSettled(url, flow);
      await settlesOneNonceOnce(url, flow);
    }
    await refusesAForgedSignature(url);
    await countsAnUnpaidRequest(url);
  } finally {
    seller.stdin.end();
  }
  const [code] = await once(seller, "exit");
  assert.equal(code, 0, "the seller ends when its stdin closes");
  console.table(table);
  console.log(`${table.length} checks passed`);
}

async function buysEachRouteOnce(url, flow, suffix) {
  for (const status of [200, 429, 500]) {
    const path = `/${flow}/${status}${suffix}`;
    await reset(url);
    const { response, header } = await buy(url + path);
    const book = await ledger(url);
    const receipt = receiptOf(response);
    const settles = flow === "upfront" || status === 200;
    assert.equal(response.status, status, path);
    assert.equal(response.headers.get("retry-after"), status === 429 ? "1" : null, path);
    assert.equal(book.settlements.length, settles ? 1 : 0, path);
    assert.equal(receipt?.success, settles ? true : undefined, path);
    assert.equal(book.handlerRuns[path], 1, path);
    assert.equal(book.verifies, flow === "upfront" ? 0 : 1, path);
    assert.equal(book.settles, settles ? 1 : 0, path);
    assert.deepEqual(
      book.requests.map(({ paid, status: answered, paymentId }) => [paid, answered, paymentId]),
      [
        [false, 402, null],
        [true, status, suffix === "" ? null : PAYMENT_ID],
      ],
      path,
    );
    if (settles) {
      const [settlement] = book.settlements;
      assert.equal(settlement.nonce, book.requests[1].nonce, path);
      assert.equal(settlement.transaction, receipt.transaction, path);
      assert.equal(settlement.value, "10000", path);
    }
    assert.ok(header, path);
    note("bought once", path, response, book);
  }
}

async function servesTheSecondShowing(url, flow, status) {
  const path = `/${flow}/${status}-then-200`;
  await reset(url);
  const { response, header } = await buy(url + path);
  const again = await show(url + path, header);
  const book = await ledger(url);
  assert.equal(response.status, status, path);
  assert.equal(book.settlements.length, 1, path);
  if (flow === "authorization") {
    assert.equal(again.status, 200, path);
    assert.equal(receiptOf(again).success, true, path);
    assert.equal(book.handlerRuns[path], 2, path);
  } else {
    // The money moved with the refusal; the reference facilitator settles a nonce once.
    assert.equal(again.status, 402, path);
    assert.deepEqual(reasonAndHash(again), [NONCE_USED, ""], path);
    assert.equal(book.handlerRuns[path], 1, path);
  }
  note("same bytes again", path, again, book);

  const bought = await buy(url + path);
  assert.equal(bought.response.status, 200, "the handler serves from its second run on");
  const other = await buy(url + path, { "x-test-id": "other" });
  assert.equal(other.response.status, status, "each test id has a first run of its own");
  note("another test id", path, other.response, await ledger(url));
}

async function refusesARepeatOfWhatIsSettled(url, flow) {
  const path = `/${flow}/200`;
  await reset(url);
  const { header } = await buy(url + path);
  const again = await show(url + path, header);
  const book = await ledger(url);
  assert.equal(again.status, 402, path);
  if (flow === "authorization") {
    assert.equal(offerOf(again).error, NONCE_USED, path);
    assert.equal(receiptOf(again), undefined, path);
  } else {
    assert.deepEqual(reasonAndHash(again), [NONCE_USED, ""], path);
  }
  assert.equal(book.handlerRuns[path], 1, path);
  assert.equal(book.settlements.length, 1, path);
  note("repeat of a settled one", path, again, book);
}

async function settlesOneNonceOnce(url, flow) {
  const path = `/${flow}/200`;
  await reset(url);
  const header = await sign(url + path);
  const answers = await Promise.all([show(url + path, header), show(url + path, header)]);
  const book = await ledger(url);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 402], path);
  assert.equal(book.settlements.length, 1, path);
  note("same bytes twice at once", path, answers.find(({ status }) => status === 402), book);
}

async function refusesAForgedSignature(url) {
  for (const flow of ["authorization", "upfront"]) {
    const path = `/${flow}/200`;
    await reset(url);
    const payload = JSON.parse(atob(await sign(url + path)));
    payload.payload.authorization.nonce = `0x${"07".repeat(32)}`;
    const response = await show(url + path, btoa(JSON.stringify(payload)));
    const book = await ledger(url);
    const reason = flow === "upfront" ? reasonAndHash(response)[0] : offerOf(response).error;
    assert.equal(response.status, 402, path);
    assert.equal(reason, "invalid_exact_evm_signature", path);
    assert.equal(book.settlements.length, 0, path);
    assert.equal(book.handlerRuns[path], undefined, path);
    note("forged signature", path, response, book);
  }
}

async function countsAnUnpaidRequest(url) {
  await reset(url);
  const response = await fetch(`${url}/authorization/200`);
  const book = await ledger(url);
  assert.equal(response.status, 402);
  assert.equal(offerOf(response).accepts[0].amount, "10000");
  assert.deepEqual(book.settlements, []);
  assert.deepEqual(book.requests, [
    { method: "GET", path: "/authorization/200", paid: false, nonce: null, paymentId: null, status: 402 },
  ]);
  note("unpaid", "/authorization/200", response, book);
}

/** Buys with the official client; gives back the answer and the header that it paid with. */
async function buy(url, headers = {}) {
  let header;
  const spy = async (request) => {
    header = request.headers.get("payment-signature") ?? header;
    return fetch(request);
  };
  const response = await wrapFetchWithPayment(spy, client())(url, { headers });
  await response.arrayBuffer();
  return { response, header };
}

/** Signs a payment for the offer without sending it. */
async function sign(url) {
  const unpaid = await fetch(url);
  const payload = await client().createPaymentPayload(offerOf(unpaid));
  return btoa(JSON.stringify(payload));
}

async function show(url, header) {
  const response = await fetch(url, { headers: { "payment-signature": header } });
  await response.arrayBuffer();
  return response;
}

function client() {
  return new x402Client()
    .register("eip155:84532", new ExactEvmScheme(privateKeyToAccount(KEY)))
    .onBeforePaymentCreation(async ({ paymentRequired }) => {
      if (paymentRequired.extensions) {
        appendPaymentIdentifierToExtensions(paymentRequired.extensions, PAYMENT_ID);
      }
    });
}

function offerOf(response) {
  return decodePaymentRequiredHeader(response.headers.get("payment-required"));
}

function receiptOf(response) {
  const header = response.headers.get("payment-response");
  return header === null ? undefined : decodePaymentResponseHeader(header);
}

function reasonAndHash(response) {
  const { success, errorReason, transaction } = receiptOf(response);
  assert.equal(success, false);
  return [errorReason, transaction];
}

async function ledger(url) {
  return (await fetch(`${url}/ledger`)).json();
}

async function reset(url) {
  assert.equal((await fetch(`${url}/reset`, { method: "POST" })).status, 204);
}

function note(check, path, response, book) {
  const offer = response.headers.has("payment-required") ? offerOf(response).error : undefined;
  const receipt = receiptOf(response);
  table.push({
    check,
    path,
    status: response.status,
    offer: offer ?? "",
    receipt: receipt === undefined ? "" : receipt.success ? "settled" : receipt.errorReason,
    settlements: book.settlements.length,
    handlerRuns: book.handlerRuns[path] ?? 0,
    requests: book.requests.length,
  });
}

await main();
