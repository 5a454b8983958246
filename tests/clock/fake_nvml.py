"""An NVML of whose cards everything is known: answers as nvidia-ml-py does, and fails as it does."""

from types import SimpleNamespace

LOST, NOT_SUPPORTED, DRIVER_NOT_LOADED, TIMEOUT = 15, 3, 9, 10
H100 = "NVIDIA H100 80GB HBM3"


class FakeNvml:
    """Stands for the module pynvml; cards are `SimpleNamespace`s of `fake_card`."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2
    NVML_TEMPERATURE_GPU = 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0

    class NVMLError(Exception):
        """With the code of nvml.h as value, as nvidia-ml-py has it."""

        def __init__(self, value):
            super().__init__(
                {15: "GPU is lost", 3: "Not Supported", 9: "Driver Not Loaded"}.get(value, "Timeout")
            )
            self.value = value

    def __init__(self, *cards, failing=None):
        self.cards = list(cards)
        self.failing = dict(failing or {})
        """Code of the error by the function that raises it; "*" for all."""

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if name.startswith("nvml"):
            code = self.failing.get(name, self.failing.get("*"))
            if code is not None:

                def fail(*_):
                    raise self.NVMLError(code)

                fail.__name__ = name
                return fail
        return found

    def nvmlInit(self):
        pass

    def nvmlDeviceGetCount(self):
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index):
        return self.cards[index]

    def nvmlDeviceGetHandleByUUID(self, uuid):
        return next(each for each in self.cards if each.uuid == uuid)

    def nvmlSystemGetDriverVersion(self):
        return "0.0 (made up)"

    def nvmlDeviceGetMinorNumber(self, card):
        return self.cards.index(card)

    def nvmlDeviceGetName(self, card):
        return card.name

    def nvmlDeviceGetUUID(self, card):
        return card.uuid

    def nvmlDeviceGetMemoryInfo(self, card):
        return SimpleNamespace(total=card.memory, used=card.used, free=card.memory - card.used)

    def nvmlDeviceGetClockInfo(self, card, which):
        return card.sm_clock if which == self.NVML_CLOCK_SM else 1000

    def nvmlDeviceGetMaxClockInfo(self, card, which):
        return 1500

    def nvmlDeviceGetTemperature(self, card, sensor):
        return card.temperature

    def nvmlDeviceGetCurrentClocksEventReasons(self, card):
        return card.throttle

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, card):
        return card.throttle

    def nvmlDeviceGetComputeRunningProcesses(self, card):
        return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in card.processes]

    def nvmlDeviceGetMPSComputeRunningProcesses(self, card):
        return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in card.shared]

    def nvmlDeviceGetEccMode(self, card):
        return [card.ecc, card.ecc]

    def nvmlDeviceGetTotalEccErrors(self, card, kind, since):
        assert (kind, since) == (self.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, self.NVML_VOLATILE_ECC)
        return card.errors

    def nvmlDeviceGetMigMode(self, card):
        return [card.mig, card.mig]

    def nvmlDeviceGetPersistenceMode(self, card):
        return card.persistence

    def nvmlDeviceGetPowerManagementLimit(self, card):
        return 500_000


def fake_card(name=H100, number=0, **changed):
    """A resting card on which nobody is; no figure of it was read from a real one."""
    plain = {
        "name": name,
        "uuid": f"GPU-0000000{number}-made-up",
        "memory": 80 << 30,
        "used": 1 << 30,
        "sm_clock": 1234,
        "temperature": 40,
        "throttle": 1,
        "processes": [],
        "shared": [],
        "ecc": 1,
        "errors": 0,
        "mig": 0,
        "persistence": 1,
    }
    return SimpleNamespace(**{**plain, **changed})
