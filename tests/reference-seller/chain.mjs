// One EIP-3009 token on one chain, held in memory: what the facilitator sees through its signer.

import { authorizationTypes, eip3009ABI } from "@x402/evm";
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  encodePacked,
  getAddress,
  isAddressEqual,
  keccak256,
  parseAbi,
  recoverTypedDataAddress,
  serializeSignature,
} from "viem";

export const NETWORK = "eip155:84532";
export const CHAIN_ID = 84532;
export const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const TOKEN_NAME = "USDC";
export const TOKEN_VERSION = "2";

const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
const FACILITATOR = "0xd407e409E34E0b9afb99EcCeb609bDbcD5e7f1bf";
const TRANSFER = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);
const DOMAIN = {
  name: TOKEN_NAME,
  version: TOKEN_VERSION,
  chainId: CHAIN_ID,
  verifyingContract: USDC,
};
// Every address starts with 1000 USDC, so that a test needs no faucet.
const FIRST_BALANCE = 1_000_000_000n;
// The upper half of the signature range is refused, as the token's ECRecover library does.
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

export class Chain {
  #used = new Map();
  #balances = new Map();
  #receipts = new Map();

  /** The settled transfers, oldest first. */
  settlements = [];

  /** The token and Multicall3 as a facilitator reaches them. */
  signer() {
    return {
      getAddresses: () => [FACILITATOR],
      getCode: async ({ address }) =>
        isAddressEqual(address, USDC) || isAddressEqual(address, MULTICALL3) ? "0x01" : "0x",
      verifyTypedData: async ({ address, ...signed }) =>
        isAddressEqual(await recoverTypedDataAddress(signed), address),
      readContract: (call) => this.#read(call),
      writeContract: (call) => this.#write(call),
      sendTransaction: async () => {
        throw new Error("this chain knows transferWithAuthorization only");
      },
      waitForTransactionReceipt: async ({ hash }) => {
        const receipt = this.#receipts.get(hash);
        if (receipt === undefined) throw new Error(`no transaction ${hash}`);
        return receipt;
      },
    };
  }

  async #read({ address, functionName, args = [] }) {
    if (isAddressEqual(address, MULTICALL3) && functionName === "tryAggregate") {
      return this.#tryAggregate(args[1]);
    }
    if (!isAddressEqual(address, USDC)) throw new Error(`no contract at ${address}`);
    return this.#view(functionName, args);
  }

  async #view(functionName, args) {
    switch (functionName) {
      case "name":
        return TOKEN_NAME;
      case "version":
        return TOKEN_VERSION;
      case "balanceOf":
        return this.#balance(args[0]);
      case "authorizationState":
        return this.#used.has(nonceKey(args[0], args[1]));
      case "transferWithAuthorization":
        await requireSignature(args);
        this.#requireTransfer(args);
        return undefined;
      default:
        throw new Error(`execution reverted: no function ${functionName}`);
    }
  }

  async #tryAggregate(calls) {
    return Promise.all(
      calls.map(async ({ target, callData }) => {
        try {
          const { functionName, args } = decodeFunctionData({ abi: eip3009ABI, data: callData });
          const result = await this.#read({ address: target, functionName, args });
          return {
            success: true,
            returnData: encodeFunctionResult({ abi: eip3009ABI, functionName, result }),
          };
        } catch {
          return { success: false, returnData: "0x" };
        }
      }),
    );
  }

  async #write({ address, functionName, args }) {
    if (!isAddressEqual(address, USDC) || functionName !== "transferWithAuthorization") {
      throw new Error("this chain knows transferWithAuthorization only");
    }
    await requireSignature(args);
    // From here to the end nothing awaits: of two transfers with one nonce only one passes.
    this.#requireTransfer(args);
    return this.#transfer(args);
  }

  #requireTransfer([from, , value, validAfter, validBefore, nonce]) {
    const now = BigInt(Math.floor(Date.now() / 1000));
    if (now <= validAfter) revert("FiatTokenV2: authorization is not yet valid");
    if (now >= validBefore) revert("FiatTokenV2: authorization is expired");
    if (this.#used.has(nonceKey(from, nonce))) {
      revert("FiatTokenV2: authorization is used or canceled");
    }
    if (this.#balance(from) < value) revert("ERC20: transfer amount exceeds balance");
  }

  #transfer([from, to, value, , , nonce]) {
    const transaction = keccak256(
      encodePacked(["address", "bytes32", "uint256"], [from, nonce, BigInt(this.settlements.length)]),
    );
    this.#used.set(nonceKey(from, nonce), transaction);
    this.#balances.set(getAddress(from), this.#balance(from) - value);
    this.#balances.set(getAddress(to), this.#balance(to) + value);
    this.#receipts.set(transaction, { status: "success", logs: [transferLog(from, to, value)] });
    this.settlements.push({
      payer: getAddress(from),
      to: getAddress(to),
      value: value.toString(),
      nonce: nonce.toLowerCase(),
      transaction,
      at: new Date().toISOString(),
    });
    return transaction;
  }

  #balance(address) {
    return this.#balances.get(getAddress(address)) ?? FIRST_BALANCE;
  }
}

/** Recovers the signer over the token's own domain, not over the one that the offer names. */
async function requireSignature(args) {
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args;
  if (args.length !== 9 || BigInt(s) > HIGHEST_S) revert("FiatTokenV2: invalid signature");
  const signer = await recoverTypedDataAddress({
    domain: DOMAIN,
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: { from, to, value, validAfter, validBefore, nonce },
    signature: serializeSignature({ r, s, v: BigInt(v) }),
  }).catch(() => undefined);
  if (signer === undefined || !isAddressEqual(signer, from)) revert("FiatTokenV2: invalid signature");
}

function transferLog(from, to, value) {
  return {
    address: USDC,
    topics: encodeEventTopics({ abi: TRANSFER, eventName: "Transfer", args: { from, to } }),
    data: encodeAbiParameters([{ type: "uint256" }], [value]),
  };
}

function nonceKey(authorizer, nonce) {
  return `${getAddress(authorizer)} ${nonce.toLowerCase()}`;
}

function revert(reason) {
  throw new Error(`execution reverted: ${reason}`);
}
