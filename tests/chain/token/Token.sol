// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// A token with transfers by authorization (EIP-3009), and nothing besides. Its signing domain is
/// that of USDC on Base Sepolia. Checks come in the order of EIP-3009's reference implementation.
contract Token {
    string public constant name = "USDC";
    string public constant version = "2";

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant TRANSFER = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant CANCEL = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    error NotYetValid();
    error Expired();
    error NonceUsed();
    error WrongSignature();
    error BalanceTooSmall();

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    /// Anybody may: it is for tests.
    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (block.timestamp <= validAfter) revert NotYetValid();
        if (block.timestamp >= validBefore) revert Expired();
        if (authorizationState[from][nonce]) revert NonceUsed();
        bytes32 signed = keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce));
        requireSignature(from, signed, v, r, s);

        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);

        if (balanceOf[from] < value) revert BalanceTooSmall();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        if (authorizationState[authorizer][nonce]) revert NonceUsed();
        requireSignature(authorizer, keccak256(abi.encode(CANCEL, authorizer, nonce)), v, r, s);

        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function requireSignature(address signer, bytes32 structHash, uint8 v, bytes32 r, bytes32 s) private view {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
        );
        address recovered = ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, structHash)), v, r, s);
        if (recovered == address(0) || recovered != signer) revert WrongSignature();
    }
}
