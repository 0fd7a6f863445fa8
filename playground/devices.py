"""The device a run uses: one flag, chosen automatically, always shown."""

import torch

from playground.refusal import Refusal


def pick(name: str = "auto") -> torch.device:
    """CUDA where there is one, else the CPU; a device that is not there is refused with what is."""
    there = available()
    if name == "auto":
        return torch.device(there[0])
    if name.split(":")[0] not in there:
        raise Refusal(f"Device {name!r} is not on this machine; choose one of: auto, {', '.join(there)}.")
    return torch.device(name)


def available() -> tuple[str, ...]:
    """The devices of this machine, the fastest first."""
    return ("cuda", "cpu") if torch.cuda.is_available() else ("cpu",)


def describe(device: torch.device) -> str:
    """The device as a person would name it."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
