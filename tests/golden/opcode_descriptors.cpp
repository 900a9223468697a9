// Prints every opcode of LLVM's NVPTX back end: name, register classes of its operands, what its descriptor claims, and
// the mnemonic that it prints. tests/golden/regenerate.sh builds it and runs it in llc.

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

struct Flag {
  const char *Name;
  bool (*Holds)(const MCInstrDesc &);
};

const Flag Flags[] = {
    {"load", [](const MCInstrDesc &D) { return D.mayLoad(); }},
    {"store", [](const MCInstrDesc &D) { return D.mayStore(); }},
    {"side-effects", [](const MCInstrDesc &D) { return D.hasUnmodeledSideEffects(); }},
    {"convergent", [](const MCInstrDesc &D) { return D.isConvergent(); }},
    {"call", [](const MCInstrDesc &D) { return D.isCall(); }},
    {"terminator", [](const MCInstrDesc &D) { return D.isTerminator(); }},
    {"meta", [](const MCInstrDesc &D) { return D.isMetaInstruction(); }},
    {"move-reg", [](const MCInstrDesc &D) { return D.isMoveReg(); }},
    {"move-imm", [](const MCInstrDesc &D) { return D.isMoveImmediate(); }},
};

class OpcodeDescriptors : public MachineFunctionPass {
public:
  static char ID;
  OpcodeDescriptors() : MachineFunctionPass(ID) {}

  bool runOnMachineFunction(MachineFunction &MF) override {
    const TargetMachine &TM = MF.getTarget();
    const TargetInstrInfo &TII = *MF.getSubtarget().getInstrInfo();
    std::unique_ptr<MCInstPrinter> Printer(TM.getTarget().createMCInstPrinter(
        TM.getTargetTriple(), 0, *TM.getMCAsmInfo(), *TM.getMCInstrInfo(), *TM.getMCRegisterInfo()));
    for (unsigned Opcode = 0; Opcode < TII.getNumOpcodes(); ++Opcode) {
      outs() << TII.getName(Opcode) << " (";
      printOperands(TII.get(Opcode), *MF.getSubtarget().getRegisterInfo());
      outs() << ')';
      for (const Flag &F : Flags)
        if (F.Holds(TII.get(Opcode)))
          outs() << ' ' << F.Name;
      if (Opcode == TargetOpcode::INLINEASM || Opcode == TargetOpcode::INLINEASM_BR)
        outs() << " inline-asm";
      printMnemonic(Opcode, *Printer);
      outs() << '\n';
    }
    return false;
  }

private:
  // "B64 = B32 B32", "_" for what is not a register, "_*3" for a run.
  static void printOperands(const MCInstrDesc &Desc, const TargetRegisterInfo &TRI) {
    auto Name = [&](unsigned I) -> StringRef {
      int16_t Class = Desc.operands()[I].RegClass;
      return Class < 0 ? "_" : TRI.getRegClassName(TRI.getRegClass(Class));
    };
    unsigned I = 0;
    bool Separated = false;
    for (unsigned End : {unsigned(Desc.getNumDefs()), unsigned(Desc.getNumOperands())}) {
      while (I < End) {
        unsigned Run = 1;
        while (I + Run < End && Name(I + Run) == Name(I))
          ++Run;
        outs() << (I > 0 || Desc.getNumDefs() == 0 ? " " : "") << Name(I);
        if (Run > 1)
          outs() << '*' << Run;
        I += Run;
      }
      if (!Separated)
        outs() << (End > 0 ? " =" : "=");
      Separated = true;
    }
  }

  static void printMnemonic(unsigned Opcode, MCInstPrinter &Printer) {
    if (Opcode <= TargetOpcode::GENERIC_OP_END)
      return;
    MCInst Inst;
    Inst.setOpcode(Opcode);
    const char *Text = Printer.getMnemonic(Inst).first;
    StringRef Mnemonic = StringRef(Text ? Text : "").split('\n').first.rtrim();
    if (!Mnemonic.empty()) {
      outs() << " | ";
      for (char C : Mnemonic)
        outs() << (C == '\t' ? ' ' : C);
    }
  }
};

char OpcodeDescriptors::ID = 0;
RegisterPass<OpcodeDescriptors> Registration("print-opcode-descriptors", "Print opcode descriptors");

} // namespace
