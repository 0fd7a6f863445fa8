"""The papers' claims as experiments whose rule is written before they run, and which may disagree with the paper."""

from playground.claims.claim import Arm, Claim, claim_named, claims
from playground.claims.lab import Lab
from playground.claims.rule import Rule, alike, equal, higher, lower

__all__ = ["Arm", "Claim", "Lab", "Rule", "alike", "claim_named", "claims", "equal", "higher", "lower"]
